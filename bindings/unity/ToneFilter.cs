// Tone Filter in a mixer of Unity's, for scripts. README.md has the first steps.

using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;
using UnityEngine;
using UnityEngine.Audio;

namespace ToneFilterUnity
{
    /// <summary>Controls all filters with one instance number: their parameters, score, preset, tempo and keys. Reads their bands.</summary>
    /// <remarks>For the main thread only. Methods throw an ArgumentException whose message has the remedy.</remarks>
    public sealed class ToneFilter
    {
        /// <summary>The number of bands, from E1 to G#7.</summary>
        public const int BandCount = 77;

        /// <summary>The MIDI note of the first band.</summary>
        public const int LowestNote = 28;

        // <generated>
        /// <summary>A factory preset in place of all other parameters but Morph, Bypass, Listen and Instance.</summary>
        public const string Preset = "Preset";

        /// <summary>Blend of the untouched sound (0 %) and the resonators (100 %). 0 to 100 %.</summary>
        public const string Mix = "Mix";

        /// <summary>Level of the result. -24 to 12 dB.</summary>
        public const string Output = "Output";

        /// <summary>Turns each note from a sine (low) into a square wave (high), with the voices Soft and Soft clean. 1 to 400 x.</summary>
        public const string Drive = "Drive";

        /// <summary>Notes below this level, relative to the input, fade away. -60 to -10 dB.</summary>
        public const string Threshold = "Threshold";

        /// <summary>Maximum level of a note, relative to the input. -30 to 0 dB.</summary>
        public const string Ceiling = "Ceiling";

        /// <summary>Notes below this level in dB full scale fade away. With Auto level, the average level of the music counts as -14 dB full scale. -90 to -20 dB.</summary>
        public const string Floor = "Floor";

        /// <summary>Time for which a resonator rings: longer separates neighbouring notes better, shorter follows faster. 0.05 to 10 s.</summary>
        public const string Ring = "Ring";

        /// <summary>Time that a note takes to follow the level of the music, when it gets louder and when it gets quieter. 10 to 1000 ms.</summary>
        public const string Release = "Release";

        /// <summary>Softens the top end of the square waves. 500 to 20000 Hz.</summary>
        public const string Tone = "Tone";

        /// <summary>The pitch of A4 that the music is tuned to. 400 to 480 Hz.</summary>
        public const string Tuning = "Tuning";

        /// <summary>Moves the range of notes that are found, in semitones; the notes keep their pitch. -24 to 24 st.</summary>
        public const string Transpose = "Transpose";

        /// <summary>Attenuation of notes that the music does not play: none at 0 %, 24 dB at 50 %, complete at 100 %. 0 to 100 %.</summary>
        public const string Focus = "Focus";

        /// <summary>Readiness to count a sound as a played note: less for clean lines, more for dense music. 0 to 100 %.</summary>
        public const string Sensitivity = "Sensitivity";

        /// <summary>Octaves by which the notes sound higher or lower. The voice Soft always plays at the detected pitch. -2 to 2 oct.</summary>
        public const string Octave = "Octave";

        /// <summary>Maximum number of notes at a time. Weaker notes are silent, and only the strongest sound. 1 to 48 notes.</summary>
        public const string Voices = "Voices";

        /// <summary>Time in which a note of the voice Chip reaches its volume, in ticks of 1/60 s. 0 to 30 ticks.</summary>
        public const string Attack = "Attack";

        /// <summary>Time in which the volume of a note of the voice Chip falls to 25 %, in ticks of 1/60 s. At 0 the volume stays. 0 to 120 ticks.</summary>
        public const string Decay = "Decay";

        /// <summary>From the untouched sound (0 %) to the full effect of all other settings (100 %), with one control. 0 to 100 %.</summary>
        public const string Morph = "Morph";

        /// <summary>Portamento time: a new note slides from the pitch of a nearby note that has just ended. The voice Soft does not glide. 0 to 500 ms.</summary>
        public const string Glide = "Glide";

        /// <summary>Share of the music's vibrato and detuning that is kept; at 0 % every pitch is exact. The voice Soft always keeps all of it. 0 to 100 %.</summary>
        public const string Vibrato = "Vibrato";

        /// <summary>Mono plays all notes in the middle, Stereo processes left and right separately, Place puts each note where it is in the input.</summary>
        public const string Stereo = "Stereo";

        /// <summary>Lets the sound through untouched.</summary>
        public const string Bypass = "Bypass";

        /// <summary>The note that the scale starts from.</summary>
        public const string Root = "Root";

        /// <summary>Lets only the notes of a scale sound.</summary>
        public const string Scale = "Scale";

        /// <summary>Adapts the bands to the level of the input, and matches the output's loudness to the input's.</summary>
        public const string Auto = "Auto";

        /// <summary>Finds the notes more accurately, and adds 46 ms of latency.</summary>
        public const string Lookahead = "Lookahead";

        /// <summary>The network that finds the notes: Full is more accurate, Light needs less than half of the CPU time.</summary>
        public const string Listener = "Listener";

        /// <summary>The notes that can be found: 48 from A3 to G#7, as in Arntzen's original filter, or all 77 from E1 up.</summary>
        public const string Range = "Range";

        /// <summary>The waveform of the notes: the filtered music itself (Soft), an oscillator that follows it, or a console's sound chip (Chip).</summary>
        public const string Voice = "Voice";

        /// <summary>With the voice Chip, notes beyond the number of Voices are silent (Off) or take turns on the last voice: 15 a second (Up) or 60 a second (Fast).</summary>
        public const string Arp = "Arp";

        /// <summary>The pulse of the melody, with the voice Chip: thin (12.5 %), normal (25 %) or hollow (50 %).</summary>
        public const string Duty = "Duty";

        /// <summary>Held keys choose the notes. Hold allows only these notes, Hold any octave allows these in every octave, Add adds them to the notes that sound anyway.</summary>
        public const string Keys = "Keys";

        /// <summary>Ring and Release last as long as a note value at the song's tempo.</summary>
        public const string Sync = "Sync";

        /// <summary>Lets sounding notes ring without end; new input has no effect on the bands.</summary>
        public const string Freeze = "Freeze";

        /// <summary>Notes are found in the sidechain input, and their sound is mixed with the main input.</summary>
        public const string Listen = "Listen";

        /// <summary>Looks for the tuning of the music, up to 60 cents above or below Tuning, and follows it.</summary>
        public const string AutoTuning = "Auto tuning";

        /// <summary>Mute silences notes outside the scale. Snap moves them to the nearest note of the scale. With Keys at Hold or Hold any octave, Snap moves all notes to the nearest note that the keys allow. Custom moves each note to a target of its own. The voice Soft only mutes.</summary>
        public const string Map = "Map";

        /// <summary>Sync counts by the tempo of the song in the host, or by the tempo that is found in the music. Without a host's tempo, it is that of the music.</summary>
        public const string SyncTo = "Sync to";

        /// <summary>The number by which scripts find this filter. Filters with the same number do the same. 0 to 63.</summary>
        public const string Instance = "Instance";

        /// <summary>The entries of each list, in the order of their numbers.</summary>
        public static readonly Dictionary<string, string[]> Entries = new Dictionary<string, string[]>
        {
            { "Preset", new[] { "none", "tone-filter", "reference", "hacking", "subtle-edge", "extreme-8-bit", "chord-pad", "stereo-wide", "drums-tamed", "lead-only", "bass-octave", "pentatonic", "nes-lead", "sound-chip", "game-boy", "organ", "sub-triangle", "saw-choir", "one-note", "octave-up", "thin-pulse", "arcade", "pizzicato", "robot", "drum-machine", "fuzz", "crystal" } },
            { "Stereo", new[] { "mono", "stereo", "place" } },
            { "Bypass", new[] { "off", "on" } },
            { "Root", new[] { "A", "A#", "B", "C", "C#", "D", "D#", "E", "F", "F#", "G", "G#" } },
            { "Scale", new[] { "chromatic", "major", "natural-minor", "harmonic-minor", "dorian", "phrygian", "lydian", "mixolydian", "locrian", "major-pentatonic", "minor-pentatonic", "blues", "whole-tone", "custom", "auto" } },
            { "Auto", new[] { "off", "on" } },
            { "Lookahead", new[] { "off", "on" } },
            { "Listener", new[] { "full", "light" } },
            { "Range", new[] { "published", "whole" } },
            { "Voice", new[] { "soft", "sine", "square", "pulse25", "pulse12", "triangle", "saw", "chip", "soft-clean" } },
            { "Arp", new[] { "off", "up", "fast" } },
            { "Duty", new[] { "12.5", "25", "50" } },
            { "Keys", new[] { "off", "hold", "hold-any", "add" } },
            { "Sync", new[] { "off", "1/1d", "1/1", "1/2d", "1/1t", "1/2", "1/4d", "1/2t", "1/4", "1/8d", "1/4t", "1/8", "1/16d", "1/8t", "1/16", "1/32d", "1/16t", "1/32", "1/32t" } },
            { "Freeze", new[] { "off", "on" } },
            { "Listen", new[] { "main", "sidechain" } },
            { "Auto tuning", new[] { "off", "on" } },
            { "Map", new[] { "mute", "snap", "custom" } },
            { "Sync to", new[] { "host", "music" } },
        };
        // </generated>

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
        public void Seek(double seconds, double? dspTime = null, double loop = 0.0)
        {
            Check(tone_filter_unity_seek(instance, seconds, dspTime ?? double.NaN, loop));
        }

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
        public void SetTempo(double tempo)
        {
            Check(tone_filter_unity_set_tempo(instance, tempo));
        }

        /// <summary>Presses the key of a MIDI note, 69 for A4. The parameter Keys sets the effect of keys.</summary>
        /// <param name="note">0 to 127.</param>
        /// <param name="velocity">Above 0 to 1; 0 releases the key.</param>
        public void Key(int note, float velocity)
        {
            Check(tone_filter_unity_key(instance, note, velocity));
        }

        /// <summary>Releases all keys.</summary>
        public void ReleaseKeys()
        {
            Check(tone_filter_unity_release_keys(instance));
        }

        /// <summary>Reads the level of each note in the music, the lowest note first: an amplitude of 0 to 1, where 1 is the ceiling.</summary>
        /// <param name="levels">Filled with BandCount levels.</param>
        public void ReadBands(float[] levels)
        {
            Check(tone_filter_unity_read_bands(instance, 0, levels, Length(levels)));
        }

        /// <summary>Reads levels as ReadBands does, but 0 for notes that do not sound.</summary>
        public void ReadNotes(float[] levels)
        {
            Check(tone_filter_unity_read_bands(instance, 1, levels, Length(levels)));
        }

        private static byte[] Bytes(string text)
        {
            return text == null ? null : Encoding.UTF8.GetBytes(text);
        }

        private static int Length(Array array)
        {
            return array == null ? 0 : array.Length;
        }

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
