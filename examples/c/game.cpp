// A game's music through the filter, block by block: an RAII wrapper with exceptions, a state of the game that changes a
// setting, keys, and a meter of the bands as text. See README.md.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <tone_filter.h>
#include <vector>

class ToneFilter {
public:
    ToneFilter(double sample_rate, std::uint32_t channels, const char *preset)
    {
        tf_filter *filter = nullptr;
        check(tf_create(sample_rate, channels, preset, &filter));
        filter_.reset(filter);
    }

    void set(const char *id, float value) { check(tf_set_number(filter_.get(), id, value)); }
    void set(const char *id, const char *entry) { check(tf_set_text(filter_.get(), id, entry)); }
    void key(int note, float velocity) { check(tf_key(filter_.get(), note, velocity)); }

    // Processes in place, on an audio thread, which must not throw.
    tf_status process(float *const *channels, std::size_t frames) noexcept
    {
        return tf_process(filter_.get(), channels, channels, frames);
    }

    std::array<tf_band, TF_BANDS> bands() const
    {
        std::array<tf_band, TF_BANDS> bands;
        check(tf_get_bands(filter_.get(), bands.data()));
        return bands;
    }

private:
    static void check(tf_status status)
    {
        if (status != TF_STATUS_OK)
            throw std::runtime_error(std::string(tf_error_message(status)) + ": " + tf_last_error());
    }

    struct Destroy {
        void operator()(tf_filter *filter) const { tf_destroy(filter); }
    };
    std::unique_ptr<tf_filter, Destroy> filter_;
};

constexpr std::uint32_t sample_rate = 48000;
constexpr std::size_t block = 480;
constexpr int blocks = 300;

// The game's music: a chord of square waves, A4, C5 and E5.
static void play(std::size_t start, std::vector<float> &left, std::vector<float> &right)
{
    for (std::size_t i = 0; i < block; i++) {
        float sum = 0.0f;
        for (std::size_t frequency : {440, 523, 659})
            sum += (start + i) * frequency % sample_rate < sample_rate / 2 ? 0.125f : -0.125f;
        left[i] = right[i] = sum;
    }
}

// Prints the bands in rows of 12: the octaves from A3 up, A to G#, then the bands from E1 up. Shows a band that is not played
// as ., a sounding one as o, and one at the ceiling as #.
static void print_meter(const ToneFilter &filter)
{
    const auto bands = filter.bands();
    for (std::size_t tone = 0; tone < bands.size(); tone++)
        std::printf("%c%s", ".o#"[bands[tone].state], tone % 12 == 11 ? "\n" : " ");
    std::printf("\n");
}

// Plays the game's music. If there is an argument, writes the left channel to the file of this name, as 32-bit floats.
int main(int argc, char **argv)
try {
    ToneFilter filter(sample_rate, 2, "sound-chip");
    std::ofstream file;
    if (argc > 1)
        file.open(argv[1], std::ios::binary);
    std::vector<float> left(block), right(block);
    float *const channels[] = {left.data(), right.data()};
    for (int count = 0; count < blocks; count++) {
        // The player starts to hack: the effect comes within a second.
        filter.set("morph", static_cast<float>(std::min(count, 100)));
        if (count == 200) {
            // From now on, only A4 sounds.
            filter.set("keys", "hold");
            filter.key(69, 0.75f);
        }
        play(static_cast<std::size_t>(count) * block, left, right);
        if (filter.process(channels, block) != TF_STATUS_OK)
            return 1;
        file.write(reinterpret_cast<const char *>(left.data()), block * sizeof(float));
        if (count % 100 == 99)
            print_meter(filter);
    }
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
