// Runs ToneFilter.cs against the library, with an instance that this program makes as Unity does.

using System;
using System.Runtime.InteropServices;
using ToneFilterUnity;
using UnityEngine;
using UnityEngine.Audio;

public static class Host
{
    private const int Rate = 48000, Frames = 1024, Number = 9, A4 = 69 - ToneFilter.LowestNote;

    [StructLayout(LayoutKind.Sequential)]
    private struct State
    {
        public uint StructSize, SampleRate;
        public ulong Tick, PreviousTick;
        public IntPtr Sidechain, EffectData;
        public uint Flags;
        public IntPtr Internal, Spatializer;
        public uint BufferSize, ApiVersion;
        public IntPtr Ambisonic;
    }

    [StructLayout(LayoutKind.Sequential)]
    private struct Definition
    {
        public uint StructSize, ParameterStructSize, ApiVersion, PluginVersion, Channels, ParameterCount;
        public ulong Flags;
        [MarshalAs(UnmanagedType.ByValTStr, SizeConst = 32)]
        public string Name;
        public IntPtr Create, Release, Reset, Process, SetPosition, Parameters, SetParameter, GetParameter, GetBuffer;
    }

    private delegate int Manage(ref State state);
    private delegate int Process(ref State state, float[] input, [Out] float[] output, uint frames, int inputs, int outputs);
    private delegate int SetParameter(ref State state, int index, float value);

    [DllImport("AudioPluginToneFilter", CallingConvention = CallingConvention.Cdecl)]
    private static extern int UnityGetAudioEffectDefinitions(out IntPtr list);

    private static Definition effect;
    private static State state;

    public static int Main()
    {
        IntPtr list;
        Assert(UnityGetAudioEffectDefinitions(out list) == 1, "one definition");
        effect = (Definition)Marshal.PtrToStructure(Marshal.ReadIntPtr(list), typeof(Definition));
        Assert(effect.StructSize == Marshal.SizeOf(typeof(Definition)) && effect.Name == "Tone Filter", "the definition");
        state = new State { StructSize = (uint)Marshal.SizeOf(typeof(State)), SampleRate = Rate, BufferSize = Frames };
        Assert(Call<Manage>(effect.Create)(ref state) == 0, "an instance");

        var mixer = new AudioMixer();
        var filter = new ToneFilter(mixer, Number);
        foreach (string name in new[] { ToneFilter.Instance, ToneFilter.Voice, ToneFilter.Mix, ToneFilter.Preset })
            mixer.Exposed.Add("ToneFilter " + name, 0f);
        filter.Set(ToneFilter.Instance, Number);
        filter.Set(ToneFilter.Mix, 70f);
        filter.Set(ToneFilter.Voice, "square");
        filter.Set(ToneFilter.Preset, "sound-chip");
        Assert(mixer.Exposed["ToneFilter Voice"] == 2f && mixer.Exposed["ToneFilter Mix"] == 70f, "parameters of the mixer");
        Assert(mixer.Exposed["ToneFilter Preset"] == Array.IndexOf(ToneFilter.Entries[ToneFilter.Preset], "sound-chip"), "a preset");
        Apply(ToneFilter.Instance, mixer.Exposed["ToneFilter Instance"]);

        // The score plays A4 from 1 s to 2 s. The music is an A4 from its start on, 0.5 s after now.
        var music = new AudioSource();
        AudioSettings.dspTime = 0.0;
        filter.Play(music, "tone-filter-score 1\n1 2 69\n", 0.5);
        Assert(music.Start == 0.5, "the music is scheduled");
        Assert(Note(filter, 1.2) == 0f, "no note before its time");
        Assert(Note(filter, 2.2) > 0f, "a note at its time");
        Assert(Note(filter, 3.2) == 0f, "no note after its time");
        filter.Seek(1.0);
        Assert(Note(filter, 3.8) > 0f, "a note after a jump");
        filter.Seek(5.0, 3.9);
        Assert(Note(filter, 4.5) == 0f, "no note after a jump to the end");
        // 2 s of music from 4.5 s on, again and again: the note is there from 5.5 s to 6.5 s, and from 7.5 s to 8.5 s.
        music.clip = new AudioClip { samples = 2 * 44100, frequency = 44100 };
        music.loop = true;
        AudioSettings.dspTime = 4.0;
        filter.Play(music, "tone-filter-score 1\n1 2 69\n", 0.5);
        Assert(Note(filter, 7.2) == 0f && Note(filter, 7.8) > 0f, "a note when the music repeats");
        filter.SetScore(null);
        Assert(Note(filter, 9.0) > 0f, "a note that is found in the sound");

        filter.SetTempo(90.0);
        filter.SetPreset("{\"version\": 1, \"name\": \"Mine\", \"settings\": {\"keys\": \"hold\"}}");
        filter.Key(60, 1f);
        Assert(Note(filter, 11.0) == 0f, "the key of another note");
        filter.ReleaseKeys();
        filter.Key(69, 1f);
        Assert(Note(filter, 12.0) > 0f, "the note's key");
        filter.SetPreset(null);

        var none = new ToneFilter(null);
        Fails(() => none.Set(ToneFilter.Mix, 1f), "pass one to the constructor");
        Fails(() => filter.Set(ToneFilter.Tone, 1f), "the mixer exposes no \"ToneFilter Tone\"");
        Fails(() => filter.Set(ToneFilter.Voice, "flute"), "use one of soft, sine");
        Fails(() => filter.Set(ToneFilter.Mix, "much"), "Mix is no list");
        Fails(() => filter.SetScore("nonsense"), "the score: line 1");
        Fails(() => filter.SetPreset("nonsense"), "the preset: ");
        Fails(() => filter.Seek(double.NaN), "use finite times");
        Fails(() => filter.Key(128, 1f), "note 128; use 0 to 127");
        Fails(() => filter.SetTempo(0.0), "tempo 0; use more than 0");
        Fails(() => filter.ReadBands(null), "the array of levels is null");
        Fails(() => new ToneFilter(null, 64).ReleaseKeys(), "filter 64: use 0 to 63");

        Assert(Call<Manage>(effect.Release)(ref state) == 0, "the end of the instance");
        Console.WriteLine("ToneFilter.cs does what it should");
        return 0;
    }

    private static T Call<T>(IntPtr function)
    {
        return (T)(object)Marshal.GetDelegateForFunctionPointer(function, typeof(T));
    }

    private static void Apply(string parameter, float value)
    {
        const int size = 64;
        for (int index = 0; index < effect.ParameterCount; index++)
            if (Marshal.PtrToStringAnsi(new IntPtr(effect.Parameters.ToInt64() + index * size)) == parameter)
            {
                Assert(effect.ParameterStructSize == size && Call<SetParameter>(effect.SetParameter)(ref state, index, value) == 0, parameter);
                return;
            }
        Assert(false, "no parameter " + parameter);
    }

    // Plays an A4 until a time of the clock in seconds, and returns the filter's level of A4 at that time.
    private static float Note(ToneFilter filter, double until)
    {
        float[] input = new float[2 * Frames], output = new float[2 * Frames];
        for (; state.Tick < until * Rate; state.Tick += Frames)
        {
            for (int i = 0; i < 2 * Frames; i++)
                input[i] = 0.3f * (float)Math.Sin(2.0 * Math.PI * 440.0 * (state.Tick + (ulong)(i / 2)) / Rate);
            Assert(Call<Process>(effect.Process)(ref state, input, output, Frames, 2, 2) == 0, "a block");
        }
        float[] bands = new float[ToneFilter.BandCount], notes = new float[ToneFilter.BandCount];
        filter.ReadBands(bands);
        filter.ReadNotes(notes);
        Assert(bands[A4] > 0.5f, "the band of the music");
        return notes[A4];
    }

    private static void Assert(bool condition, string what)
    {
        if (!condition)
            throw new Exception("failed: " + what);
    }

    private static void Fails(Action action, string text)
    {
        try
        {
            action();
        }
        catch (ArgumentException error)
        {
            Assert(error.Message.Contains(text), "\"" + error.Message + "\" lacks \"" + text + "\"");
            return;
        }
        Assert(false, "no error with \"" + text + "\"");
    }
}
