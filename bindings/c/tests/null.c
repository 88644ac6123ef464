/* Calls every function with NULL and with invalid values: each call must return an error code, and must not crash. */

#include <stdio.h>
#include <string.h>
#include <tone_filter.h>

static int failures;

static void expect(int holds, const char *condition)
{
    if (!holds) {
        printf("not so: %s (%s)\n", condition, tf_last_error());
        failures++;
    }
}

#define EXPECT_TRUE(condition) expect(condition, #condition)
#define EXPECT(expected, call) EXPECT_TRUE((call) == (expected))

static float sample, number;
static const float *input[2] = {&sample, &sample}, *no_input[2];
static float *output[2] = {&sample, &sample}, *no_output[2];
static char text[TF_TEXT_SIZE];
static tf_band bands[TF_BANDS];
static size_t frames;
static double seconds;

static void null_filter(void)
{
    tf_destroy(NULL);
    EXPECT(TF_STATUS_NULL, tf_reset(NULL));
    EXPECT(TF_STATUS_NULL, tf_process(NULL, input, output, 1));
    EXPECT(TF_STATUS_NULL, tf_process_interleaved(NULL, &sample, &sample, 1));
    EXPECT(TF_STATUS_NULL, tf_latency(NULL, &frames));
    EXPECT(TF_STATUS_NULL, tf_tail(NULL, &seconds));
    EXPECT(TF_STATUS_NULL, tf_get_bands(NULL, bands));
    EXPECT(TF_STATUS_NULL, tf_key(NULL, 69, 1.0f));
    EXPECT(TF_STATUS_NULL, tf_release_keys(NULL));
    EXPECT(TF_STATUS_NULL, tf_sustain(NULL, 1));
    EXPECT(TF_STATUS_NULL, tf_bend(NULL, 1.0f));
    EXPECT(TF_STATUS_NULL, tf_set_score(NULL, NULL));
    EXPECT(TF_STATUS_NULL, tf_seek(NULL, 0.0));
    EXPECT(TF_STATUS_NULL, tf_set_preset(NULL, "reference"));
    EXPECT(TF_STATUS_NULL, tf_set_json(NULL, "{}"));
    EXPECT(TF_STATUS_NULL, tf_get_json(NULL, text, sizeof text));
    EXPECT(TF_STATUS_NULL, tf_set_number(NULL, "mix", 1.0f));
    EXPECT(TF_STATUS_NULL, tf_get_number(NULL, "mix", &number));
    EXPECT(TF_STATUS_NULL, tf_set_text(NULL, "voice", "saw"));
    EXPECT(TF_STATUS_NULL, tf_get_text(NULL, "voice", text, sizeof text));
    EXPECT(TF_STATUS_NULL, tf_set_tempo(NULL, 120.0));
}

static void null_pointers(tf_filter *filter)
{
    EXPECT(TF_STATUS_NULL, tf_create(48000.0, 2, NULL, NULL));
    EXPECT(TF_STATUS_NULL, tf_create_json(48000.0, 2, "{}", NULL));
    EXPECT(TF_STATUS_NULL, tf_process(filter, NULL, output, 1));
    EXPECT(TF_STATUS_NULL, tf_process(filter, input, NULL, 1));
    EXPECT(TF_STATUS_NULL, tf_process(filter, no_input, output, 1));
    EXPECT(TF_STATUS_NULL, tf_process(filter, input, no_output, 1));
    EXPECT(TF_STATUS_NULL, tf_process_interleaved(filter, NULL, &sample, 1));
    EXPECT(TF_STATUS_NULL, tf_process_interleaved(filter, &sample, NULL, 1));
    EXPECT(TF_STATUS_NULL, tf_latency(filter, NULL));
    EXPECT(TF_STATUS_NULL, tf_tail(filter, NULL));
    EXPECT(TF_STATUS_NULL, tf_get_bands(filter, NULL));
    EXPECT(TF_STATUS_NULL, tf_set_preset(filter, NULL));
    EXPECT(TF_STATUS_NULL, tf_set_json(filter, NULL));
    EXPECT(TF_STATUS_NULL, tf_get_json(filter, NULL, sizeof text));
    EXPECT(TF_STATUS_NULL, tf_set_number(filter, NULL, 1.0f));
    EXPECT(TF_STATUS_NULL, tf_get_number(filter, NULL, &number));
    EXPECT(TF_STATUS_NULL, tf_get_number(filter, "mix", NULL));
    EXPECT(TF_STATUS_NULL, tf_set_text(filter, NULL, "saw"));
    EXPECT(TF_STATUS_NULL, tf_set_text(filter, "voice", NULL));
    EXPECT(TF_STATUS_NULL, tf_get_text(filter, NULL, text, sizeof text));
    EXPECT(TF_STATUS_NULL, tf_get_text(filter, "voice", NULL, sizeof text));
}

static void garbage(tf_filter *filter)
{
    const float zero = 0.0f, nan = zero / zero, infinity = 1.0f / zero;
    float samples[2] = {0.0f, 0.0f};
    char before[TF_TEXT_SIZE];
    tf_filter *none = filter;
    EXPECT(TF_STATUS_OK, tf_get_json(filter, before, sizeof before));
    EXPECT(TF_STATUS_SAMPLE_RATE, tf_create(nan, 2, NULL, &none));
    EXPECT_TRUE(none == NULL);
    EXPECT(TF_STATUS_SAMPLE_RATE, tf_create_json(infinity, 2, "{}", &none));
    EXPECT(TF_STATUS_CHANNELS, tf_create(48000.0, 0, NULL, &none));
    EXPECT(TF_STATUS_CHANNELS, tf_create_json(48000.0, 0xffffffffu, "{}", &none));
    EXPECT(TF_STATUS_PRESET, tf_create(48000.0, 2, "", &none));
    EXPECT(TF_STATUS_PRESET, tf_set_preset(filter, "\x01\x7f"));
    EXPECT(TF_STATUS_TEXT, tf_create(48000.0, 2, "\xff\xfe", &none));
    EXPECT(TF_STATUS_TEXT, tf_create_json(48000.0, 2, "\x80", &none));
    EXPECT(TF_STATUS_NULL, tf_create_json(48000.0, 2, NULL, &none));
    EXPECT(TF_STATUS_JSON, tf_set_json(filter, "{"));
    none = filter;
    EXPECT(TF_STATUS_JSON, tf_create_json(48000.0, 2, "{\"mix\": 101}", &none));
    EXPECT_TRUE(none == NULL && tf_last_error()[0] != '\0');
    EXPECT(TF_STATUS_RANGE, tf_process_interleaved(filter, samples, samples, (size_t)-1));
    EXPECT(TF_STATUS_OK, tf_process_interleaved(filter, samples, samples, 0));
    samples[0] = nan;
    samples[1] = infinity;
    EXPECT(TF_STATUS_OK, tf_process_interleaved(filter, samples, samples, 1));
    EXPECT_TRUE(samples[0] - samples[0] == 0.0f && samples[1] - samples[1] == 0.0f);
    EXPECT(TF_STATUS_RANGE, tf_key(filter, 128, 1.0f));
    EXPECT(TF_STATUS_RANGE, tf_key(filter, 69, nan));
    EXPECT(TF_STATUS_RANGE, tf_bend(filter, nan));
    EXPECT(TF_STATUS_OK, tf_sustain(filter, -77));
    EXPECT(TF_STATUS_OK, tf_release_keys(filter));
    EXPECT(TF_STATUS_SCORE, tf_set_score(filter, "{}"));
    EXPECT(TF_STATUS_TEXT, tf_set_score(filter, "\xff"));
    EXPECT(TF_STATUS_OK, tf_set_score(filter, NULL));
    EXPECT(TF_STATUS_RANGE, tf_seek(filter, -infinity));
    EXPECT(TF_STATUS_OK, tf_seek(filter, -1e300));
    EXPECT(TF_STATUS_RANGE, tf_set_number(filter, "mix", nan));
    EXPECT(TF_STATUS_SETTING, tf_set_number(filter, "voice", 1.0f));
    EXPECT(TF_STATUS_TEXT, tf_get_number(filter, "\xc3", &number));
    EXPECT(TF_STATUS_SETTING, tf_set_text(filter, "mix", "1"));
    EXPECT(TF_STATUS_ENTRY, tf_set_text(filter, "voice", ""));
    EXPECT(TF_STATUS_SETTING, tf_get_text(filter, "mix", text, sizeof text));
    EXPECT(TF_STATUS_SIZE, tf_get_text(filter, "voice", text, 0));
    EXPECT(TF_STATUS_RANGE, tf_set_tempo(filter, nan));
    EXPECT_TRUE(tf_setting_at((size_t)-1) == NULL && tf_preset_at((size_t)-1) == NULL);
    EXPECT_TRUE(strcmp(tf_error_message(-1), "unknown status") == 0);
    EXPECT(TF_STATUS_OK, tf_get_json(filter, text, sizeof text));
    EXPECT_TRUE(strcmp(text, before) == 0);
    EXPECT(TF_STATUS_OK, tf_reset(filter));
}

int main(void)
{
    tf_filter *filter = NULL;
    EXPECT_TRUE(tf_version()[0] != '\0' && tf_last_error()[0] == '\0');
    EXPECT(TF_STATUS_OK, tf_create(48000.0, 2, NULL, &filter));
    null_filter();
    null_pointers(filter);
    garbage(filter);
    tf_destroy(filter);
    return failures != 0;
}
