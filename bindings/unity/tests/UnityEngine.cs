// Parts of Unity that ToneFilter.cs and the code of the pages need to compile and run without Unity.

using System.Collections.Generic;

namespace UnityEngine
{
    public class MonoBehaviour { public readonly Transform transform = new Transform(); }
    public sealed class Transform { public Vector3 localScale; }

    public struct Vector3
    {
        public readonly float x, y, z;

        public Vector3(float x, float y, float z) { this.x = x; this.y = y; this.z = z; }
    }

    public sealed class TextAsset
    {
        public readonly string text;

        public TextAsset(string text) { this.text = text; }
    }

    public static class AudioSettings { public static double dspTime; }
    public sealed class AudioClip { public int samples, frequency; }

    public sealed class AudioSource
    {
        public AudioClip clip;
        public bool loop;
        public float time;
        public double Start = -1.0;

        public void PlayScheduled(double time) { Start = time; }
    }
}

namespace UnityEngine.Audio
{
    public sealed class AudioMixer
    {
        public readonly Dictionary<string, float> Exposed = new Dictionary<string, float>();

        public bool SetFloat(string name, float value)
        {
            if (!Exposed.ContainsKey(name))
                return false;
            Exposed[name] = value;
            return true;
        }
    }
}
