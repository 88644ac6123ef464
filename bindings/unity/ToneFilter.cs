// Tone Filter in a mixer of Unity's, for scripts. README.md has the first steps. ToneFilterLists.cs has the parameters.

using System;
using System.Runtime.InteropServices;
using System.Text;
using UnityEngine;
using UnityEngine.Audio;

namespace ToneFilterUnity
{
    /// <summary>Controls all filters with one instance number: their parameters, score, preset, tempo and keys. Reads their bands.</summary>
    /// <remarks>For the main thread only. Methods throw an ArgumentException whose message has the remedy.</remarks>
    public sealed partial class ToneFilter
    {
        /// <summary>The number of bands, from E1 to G#7.</summary>
        public const int BandCount = 77;

        /// <summary>The MIDI note of the first band.</summary>
        public const int LowestNote = 28;

        private readonly AudioMixer mixer;
        private readonly int instance;
        private readonly string prefix;

        /// <summary>Creates a control of the filters with an instance number.</summary>
        /// <param name="mixer">The mixer that exposes the filter's parameters; null where scripts set none.</param>
        /// <param name="instance">The filter's parameter Instance, 0 to 63.</param>
        /// <param name="prefix">Beginning of the exposed names, before the name of the parameter: Mix is exposed as "ToneFilter Mix".</param>
        public ToneFilter(AudioMixer mixer, int instance = 0, string prefix = "ToneFilter ")
        {
            this.mixer = mixer;
            this.instance = instance;
            this.prefix = prefix;
        }

        /// <summary>Sets a parameter that the mixer exposes. Unity ignores this in Awake: do it in Start or later.</summary>
        /// <param name="parameter">Its name: one of the constants.</param>
        /// <param name="value">A number in its unit, or the index of an entry.</param>
        public void Set(string parameter, float value)
        {
            if (mixer == null)
                throw new ArgumentException("there is no mixer to set " + parameter + " in: pass one to the constructor");
            if (!mixer.SetFloat(prefix + parameter, value))
                throw new ArgumentException("the mixer exposes no \"" + prefix + parameter + "\": right-click " + parameter
                    + " in the inspector of Tone Filter, expose it, and give it that name under Exposed Parameters");
        }

        /// <summary>Sets a list that the mixer exposes to one of its entries, such as Voice to "square".</summary>
        public void Set(string parameter, string entry)
        {
            string[] entries;
            if (!Entries.TryGetValue(parameter, out entries))
                throw new ArgumentException(parameter + " is no list: set it to a number");
            int index = Array.IndexOf(entries, entry);
            if (index < 0)
                throw new ArgumentException(parameter + " has no \"" + entry + "\": use one of " + string.Join(", ", entries));
            Set(parameter, (float)index);
        }

        /// <summary>Sets a score and starts it: a list of notes that replaces the filter's detection of notes. Its notes have no latency and no errors.</summary>
        /// <param name="score">The text of a file that "tone-filter bands music.wav --score music.tfs" has written; null for none.</param>
        public void SetScore(string score)
        {
            byte[] text = Bytes(score);
            Check(tone_filter_unity_set_score(instance, text, Length(text)));
        }

        /// <summary>Sets the position in the score. Call it when the music begins or jumps.</summary>
        /// <param name="seconds">Position from the start of the score.</param>
        /// <param name="dspTime">Value of AudioSettings.dspTime at this position; null for the start of the next block.</param>
        /// <param name="loop">Seconds after which the music and its score begin again; 0 for never.</param>
        public void Seek(double seconds, double? dspTime = null, double loop = 0.0) =>
            Check(tone_filter_unity_seek(instance, seconds, dspTime ?? double.NaN, loop));

        /// <summary>Plays music from its start, with its score in time. Both repeat if the source loops.</summary>
        /// <param name="music">A source of pitch 1, whose output is the group with the filter.</param>
        /// <param name="score">As for SetScore.</param>
        /// <param name="delay">Seconds until the music starts; 0.1 is enough for Unity to be in time.</param>
        public void Play(AudioSource music, string score, double delay = 0.1)
        {
            double start = AudioSettings.dspTime + delay;
            SetScore(score);
            Seek(0.0, start, music.loop ? music.clip.samples / (double)music.clip.frequency : 0.0);
            music.PlayScheduled(start);
        }

        /// <summary>Sets a preset of your own, which replaces all parameters except Morph, Bypass, Listen and Instance.</summary>
        /// <param name="preset">The text of a preset file, as the plugin saves it; null restores the parameters.</param>
        public void SetPreset(string preset)
        {
            byte[] text = Bytes(preset);
            Check(tone_filter_unity_set_preset(instance, text, Length(text)));
        }

        /// <summary>Sets the tempo for the parameter Sync, in beats a minute; 120 by default.</summary>
        public void SetTempo(double tempo) => Check(tone_filter_unity_set_tempo(instance, tempo));

        /// <summary>Presses the key of a MIDI note, 69 for A4. The parameter Keys sets the effect of keys.</summary>
        /// <param name="note">0 to 127.</param>
        /// <param name="velocity">Above 0 to 1; 0 releases the key.</param>
        public void Key(int note, float velocity) => Check(tone_filter_unity_key(instance, note, velocity));

        /// <summary>Releases all keys.</summary>
        public void ReleaseKeys() => Check(tone_filter_unity_release_keys(instance));

        /// <summary>Reads the level of each note in the music, the lowest note first: an amplitude of 0 to 1, where 1 is the ceiling.</summary>
        /// <param name="levels">Filled with BandCount levels.</param>
        public void ReadBands(float[] levels) => Check(tone_filter_unity_read_bands(instance, 0, levels, Length(levels)));

        /// <summary>Reads levels as ReadBands does, but 0 for notes that do not sound.</summary>
        public void ReadNotes(float[] levels) => Check(tone_filter_unity_read_bands(instance, 1, levels, Length(levels)));

        private static byte[] Bytes(string text) => text == null ? null : Encoding.UTF8.GetBytes(text);

        private static int Length(Array array) => array == null ? 0 : array.Length;

        private static void Check(IntPtr error)
        {
            if (error != IntPtr.Zero)
                throw new ArgumentException(Marshal.PtrToStringAnsi(error));
        }

        private const string Library = "AudioPluginToneFilter";
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        private static extern IntPtr tone_filter_unity_set_score(int instance, byte[] text, int length);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        private static extern IntPtr tone_filter_unity_seek(int instance, double seconds, double dspTime, double length);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        private static extern IntPtr tone_filter_unity_set_preset(int instance, byte[] json, int length);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        private static extern IntPtr tone_filter_unity_set_tempo(int instance, double tempo);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        private static extern IntPtr tone_filter_unity_key(int instance, int note, float velocity);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        private static extern IntPtr tone_filter_unity_release_keys(int instance);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        private static extern IntPtr tone_filter_unity_read_bands(int instance, int sounding, [Out] float[] levels, int count);
    }
}
