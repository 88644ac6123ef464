// Runs ToneFilter.cs against the library. Whether the effect does what scripts ask for is tested in Rust.

using System;
using ToneFilterUnity;
using UnityEngine;
using UnityEngine.Audio;

public static class Host
{
    public static int Main()
    {
        var mixer = new AudioMixer();
        var filter = new ToneFilter(mixer, 9);
        foreach (string name in new[] { ToneFilter.Instance, ToneFilter.Voice, ToneFilter.Mix, ToneFilter.Preset })
            mixer.Exposed.Add("ToneFilter " + name, 0f);
        filter.Set(ToneFilter.Instance, 9);
        filter.Set(ToneFilter.Mix, 70f);
        filter.Set(ToneFilter.Voice, "square");
        filter.Set(ToneFilter.Preset, "sound-chip");
        Assert(mixer.Exposed["ToneFilter Voice"] == 2f && mixer.Exposed["ToneFilter Mix"] == 70f, "parameters of the mixer");
        Assert(mixer.Exposed["ToneFilter Preset"] == Array.IndexOf(ToneFilter.Entries[ToneFilter.Preset], "sound-chip"), "a preset");

        var music = new AudioSource { clip = new AudioClip { samples = 2 * 44100, frequency = 44100 }, loop = true };
        AudioSettings.dspTime = 4.0;
        filter.Play(music, "tone-filter-score 1\n1 2 69\n", 0.5);
        Assert(music.Start == 4.5, "the music is scheduled");
        filter.Seek(1.0);
        filter.SetScore(null);
        filter.SetTempo(90.0);
        filter.SetPreset("{\"version\": 1, \"name\": \"Mine\", \"settings\": {\"keys\": \"hold\"}}");
        filter.SetPreset(null);
        filter.Key(60, 1f);
        filter.ReleaseKeys();
        float[] bands = new float[ToneFilter.BandCount], notes = new float[ToneFilter.BandCount];
        bands[76] = notes[76] = 9f;
        filter.ReadBands(bands);
        filter.ReadNotes(notes);
        Assert(bands[76] == 0f && notes[76] == 0f, "levels are written");

        // The errors have the arguments as the library gets them.
        var none = new ToneFilter(null);
        Fails(() => none.Set(ToneFilter.Mix, 1f), "pass one to the constructor");
        Fails(() => filter.Set(ToneFilter.Tone, 1f), "the mixer exposes no \"ToneFilter Tone\"");
        Fails(() => filter.Set(ToneFilter.Voice, "flute"), "use one of soft, sine");
        Fails(() => filter.Set(ToneFilter.Mix, "much"), "Mix is no list");
        Fails(() => filter.SetScore("nonsense"), "the score: line 1");
        Fails(() => filter.SetPreset("nonsense"), "the preset: ");
        Fails(() => filter.Seek(1.5, double.PositiveInfinity), "1.5 s at inf s; use finite times");
        Fails(() => filter.Seek(0.0, null, -2.0), "a loop of -2 s");
        Fails(() => filter.Seek(0.0, null, double.NaN), "a loop of NaN s");
        Fails(() => filter.Key(128, 1f), "note 128; use 0 to 127");
        Fails(() => filter.Key(-1, 1f), "note -1; use 0 to 127");
        Fails(() => filter.Key(60, 1.5f), "velocity 1.5; use 0 to 1");
        Fails(() => filter.Key(60, float.NaN), "velocity NaN; use 0 to 1");
        Fails(() => filter.SetTempo(-0.5), "tempo -0.5; use more than 0");
        Fails(() => filter.ReadBands(null), "the array of levels is null");
        Fails(() => new ToneFilter(null, 64).ReleaseKeys(), "filter 64: use 0 to 63");
        Fails(() => new ToneFilter(null, -1).ReleaseKeys(), "filter -1: use 0 to 63");
        Console.WriteLine("ToneFilter.cs does what it should");
        return 0;
    }

    private static void Assert(bool condition, string what)
    {
        if (!condition)
            throw new Exception("failed: " + what);
    }

    private static void Fails(Action action, string text)
    {
        string message = "no error";
        try { action(); }
        catch (ArgumentException error) { message = error.Message; }
        Assert(message.Contains(text), "\"" + message + "\" lacks \"" + text + "\"");
    }
}
