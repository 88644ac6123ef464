/* Renders a WAV file through the filter with a factory preset; see README.md. For little-endian computers. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tone_filter.h>

/* Interleaved samples; full scale is 1. */
struct sound {
    uint32_t sample_rate;
    uint16_t channels;
    size_t frames;
    float *samples;
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return EXIT_FAILURE;
}

/* Skips to the next chunk with this id and returns its size; 0 if there is none. */
static uint32_t find_chunk(FILE *file, const char *id)
{
    char name[4];
    uint32_t size;
    while (fread(name, 4, 1, file) == 1 && fread(&size, 4, 1, file) == 1) {
        if (memcmp(name, id, 4) == 0)
            return size;
        if (fseek(file, (long)size + (long)(size % 2), SEEK_CUR) != 0)
            break;
    }
    return 0;
}

/* Reads 16-bit or 32-bit float samples. Returns NULL, or an error message. */
static const char *read_wav(FILE *file, struct sound *sound)
{
    char riff[12], format[26] = {0};
    uint16_t tag, bits;
    uint32_t size, known;
    size_t count, i;
    if (fread(riff, 12, 1, file) != 1 || memcmp(riff, "RIFF", 4) != 0 || memcmp(riff + 8, "WAVE", 4) != 0)
        return "not a WAV file";
    size = find_chunk(file, "fmt ");
    known = size < sizeof format ? size : sizeof format;
    if (known < 16 || fread(format, known, 1, file) != 1 || fseek(file, (long)(size - known), SEEK_CUR) != 0)
        return "no format";
    memcpy(&tag, format, 2);
    if (tag == 0xfffe) /* An extensible format has its tag further on. */
        memcpy(&tag, format + 24, 2);
    memcpy(&sound->channels, format + 2, 2);
    memcpy(&sound->sample_rate, format + 4, 4);
    memcpy(&bits, format + 14, 2);
    if (sound->channels == 0 || !((tag == 1 && bits == 16) || (tag == 3 && bits == 32)))
        return "neither 16-bit nor 32-bit float";
    sound->frames = find_chunk(file, "data") / (bits / 8u) / sound->channels;
    count = sound->frames * sound->channels;
    if (count == 0)
        return "no samples";
    sound->samples = malloc(count * sizeof *sound->samples);
    if (sound->samples == NULL)
        return "too long for this computer's memory";
    for (i = 0; i < count; i++) {
        int16_t integer;
        if (fread(tag == 1 ? (void *)&integer : (void *)&sound->samples[i], bits / 8u, 1, file) != 1)
            return "ends too early";
        if (tag == 1)
            sound->samples[i] = (float)integer / 32768.0f;
    }
    return NULL;
}

/* Writes 32-bit floats. Returns 0 on failure. */
static int write_wav(FILE *file, const struct sound *sound)
{
    const uint32_t frame = sound->channels * 4u, data = (uint32_t)(sound->frames * frame), riff = 36 + data;
    const uint32_t format_size = 16, bytes_per_second = sound->sample_rate * frame;
    const uint16_t tag = 3, block = (uint16_t)frame, bits = 32;
    char header[44] = "RIFF....WAVEfmt ";
    memcpy(header + 4, &riff, 4);
    memcpy(header + 16, &format_size, 4);
    memcpy(header + 20, &tag, 2);
    memcpy(header + 22, &sound->channels, 2);
    memcpy(header + 24, &sound->sample_rate, 4);
    memcpy(header + 28, &bytes_per_second, 4);
    memcpy(header + 32, &block, 2);
    memcpy(header + 34, &bits, 2);
    memcpy(header + 36, "data", 4);
    memcpy(header + 40, &data, 4);
    return fwrite(header, sizeof header, 1, file) == 1 && fwrite(sound->samples, data, 1, file) == 1;
}

/* Filters in place, with lookahead. Removes the latency: the filter also processes silence after the sound, which pushes
 * the end of the sound out. */
static tf_status render(const char *preset, struct sound *sound)
{
    tf_filter *filter;
    size_t latency = 0, kept, i;
    const size_t frame = sound->channels * sizeof(float);
    float *silence = NULL;
    tf_status status = tf_create(sound->sample_rate, sound->channels, preset, &filter);
    if (status == TF_STATUS_OK)
        status = tf_set_text(filter, "lookahead", "on");
    if (status == TF_STATUS_OK)
        status = tf_reset(filter); /* Ends the smoothing of the changed setting. */
    if (status == TF_STATUS_OK)
        status = tf_latency(filter, &latency);
    if (status == TF_STATUS_OK)
        status = tf_process_interleaved(filter, sound->samples, sound->samples, sound->frames);
    if (status == TF_STATUS_OK) {
        silence = calloc(latency, frame);
        status = tf_process_interleaved(filter, silence, silence, latency);
    }
    if (status == TF_STATUS_OK) {
        kept = sound->frames > latency ? sound->frames - latency : 0;
        memmove(sound->samples, sound->samples + (sound->frames - kept) * sound->channels, kept * frame);
        for (i = kept; i < sound->frames; i++)
            memcpy(sound->samples + i * sound->channels,
                   silence + (latency + i - sound->frames) * sound->channels, frame);
    }
    free(silence);
    tf_destroy(filter);
    return status;
}

int main(int argc, char **argv)
{
    struct sound sound = {0, 0, 0, NULL};
    const tf_preset *preset;
    const char *fault;
    FILE *file;
    tf_status status;
    size_t i;
    int written;
    if (argc != 4) {
        fprintf(stderr, "usage: tone_filter PRESET IN.wav OUT.wav\n\npresets:\n");
        for (i = 0; (preset = tf_preset_at(i)) != NULL; i++)
            fprintf(stderr, "  %-14s %s\n", preset->id, preset->description);
        return 2;
    }
    file = fopen(argv[2], "rb");
    if (file == NULL)
        return fail(argv[2], "cannot be read");
    fault = read_wav(file, &sound);
    fclose(file);
    if (fault != NULL) {
        free(sound.samples);
        return fail(argv[2], fault);
    }
    status = render(argv[1], &sound);
    if (status != TF_STATUS_OK) {
        free(sound.samples);
        return fail(tf_error_message(status), tf_last_error());
    }
    file = fopen(argv[3], "wb");
    written = file != NULL && write_wav(file, &sound);
    if (file != NULL && fclose(file) != 0)
        written = 0;
    free(sound.samples);
    return written ? EXIT_SUCCESS : fail(argv[3], "cannot be written");
}
