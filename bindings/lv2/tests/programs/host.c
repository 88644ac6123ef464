/* A host of LV2 through lilv: every preset, saved states, MIDI and latency, with the structures of LV2's own headers.
 *
 * host INPUT FOLDER: filters INPUT, interleaved stereo in 32-bit floats, with every preset, and writes FOLDER/NAME.f32 for each.
 * Checks states, messages, latency and "enabled". */

#include <lilv/lilv.h>
#include <lv2/atom/forge.h>
#include <lv2/atom/util.h>
#include <lv2/midi/midi.h>
#include <lv2/presets/presets.h>
#include <lv2/state/state.h>
#include <lv2/urid/urid.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 44100.0
#define BLOCK 441
#define PORTS 64
#define ROOM 32768

static void check(bool condition, const char* what)
{
    if (!condition) {
        fprintf(stderr, "host: %s\n", what);
        exit(1);
    }
}

static char* uris[512];
static LV2_URID uri_count;

static LV2_URID map_uri(LV2_URID_Map_Handle handle, const char* uri)
{
    (void)handle;
    for (LV2_URID i = 0; i < uri_count; ++i) {
        if (!strcmp(uris[i], uri)) {
            return i + 1;
        }
    }
    check(uri_count < 512, "too many URIs");
    uris[uri_count] = strdup(uri);
    return ++uri_count;
}

static const char* unmap_uri(LV2_URID_Unmap_Handle handle, LV2_URID urid)
{
    (void)handle;
    return urid > 0 && urid <= uri_count ? uris[urid - 1] : NULL;
}

static LV2_URID_Map map = {NULL, map_uri};
static LV2_URID_Unmap unmap = {NULL, unmap_uri};
static const LV2_Feature map_feature = {LV2_URID__map, &map};
static const LV2_Feature* const features[] = {&map_feature, NULL};

static LilvWorld* world;
static const LilvPlugin* plugin;
static uint32_t port_count;
static float defaults[PORTS], minima[PORTS], maxima[PORTS];
static const float* input;
static size_t frames;

typedef struct {
    LilvInstance* instance;
    float values[PORTS];
    _Alignas(8) uint8_t events[2][ROOM];
} Host;

static uint32_t port(const char* symbol)
{
    LilvNode* node = lilv_new_string(world, symbol);
    const LilvPort* found = lilv_plugin_get_port_by_symbol(plugin, node);
    lilv_node_free(node);
    check(found, symbol);
    return lilv_port_get_index(plugin, found);
}

static Host* host_new(void)
{
    Host* host = calloc(1, sizeof(Host));
    host->instance = lilv_plugin_instantiate(plugin, RATE, features);
    check(host->instance, "the plugin cannot be instantiated");
    for (uint32_t i = 0; i < port_count; ++i) {
        host->values[i] = defaults[i];
        lilv_instance_connect_port(host->instance, i, &host->values[i]);
    }
    lilv_instance_connect_port(host->instance, port("events_in"), host->events[0]);
    lilv_instance_connect_port(host->instance, port("events_out"), host->events[1]);
    lilv_instance_activate(host->instance);
    return host;
}

static void host_free(Host* host)
{
    lilv_instance_deactivate(host->instance);
    lilv_instance_free(host->instance);
    free(host);
}

/* Number of messages that the plugin has written in the last call of play. */
static unsigned received;

/* Returns the input after the plugin. `key` is a MIDI note that is held from the input's start on, or 0 for none. */
static float* play(Host* host, uint8_t key)
{
    float* output = calloc(2 * frames, sizeof(float));
    received = 0;
    for (size_t start = 0; start < frames; start += BLOCK) {
        const size_t count = frames - start < BLOCK ? frames - start : BLOCK;
        float channels[2][BLOCK];
        for (size_t i = 0; i < count; ++i) {
            channels[0][i] = input[2 * (start + i)];
            channels[1][i] = input[2 * (start + i) + 1];
        }
        LV2_Atom_Forge forge;
        LV2_Atom_Forge_Frame frame;
        lv2_atom_forge_init(&forge, &map);
        lv2_atom_forge_set_buffer(&forge, host->events[0], ROOM);
        lv2_atom_forge_sequence_head(&forge, &frame, 0);
        if (key && start == 0) {
            const uint8_t message[] = {0x90, key, 127};
            lv2_atom_forge_frame_time(&forge, 7);
            lv2_atom_forge_atom(&forge, sizeof(message), map_uri(NULL, LV2_MIDI__MidiEvent));
            lv2_atom_forge_write(&forge, message, sizeof(message));
        }
        lv2_atom_forge_pop(&forge, &frame);
        LV2_Atom_Sequence* out = (LV2_Atom_Sequence*)host->events[1];
        out->atom.size = ROOM - sizeof(LV2_Atom);
        out->atom.type = map_uri(NULL, LV2_ATOM__Chunk);
        const char* const symbols[] = {"in_1", "in_2", "out_1", "out_2"};
        for (int i = 0; i < 4; ++i) {
            lilv_instance_connect_port(host->instance, port(symbols[i]), channels[i % 2]);
        }
        lilv_instance_run(host->instance, (uint32_t)count);
        check(out->atom.type == map_uri(NULL, LV2_ATOM__Sequence), "no sequence was written");
        LV2_ATOM_SEQUENCE_FOREACH (out, event) {
            check(event->body.type == map_uri(NULL, LV2_MIDI__MidiEvent), "an event is no MIDI");
            check(event->time.frames < (int64_t)count, "an event is late");
            ++received;
        }
        for (size_t i = 0; i < count; ++i) {
            output[2 * (start + i)] = channels[0][i];
            output[2 * (start + i) + 1] = channels[1][i];
        }
    }
    return output;
}

static void set_value(const char* symbol, void* data, const void* value, uint32_t size, uint32_t type)
{
    check(size == sizeof(float) && type == map_uri(NULL, LV2_ATOM__Float), "a value is no number");
    ((Host*)data)->values[port(symbol)] = *(const float*)value;
}

static const void* get_value(const char* symbol, void* data, uint32_t* size, uint32_t* type)
{
    *size = sizeof(float);
    *type = map_uri(NULL, LV2_ATOM__Float);
    return &((Host*)data)->values[port(symbol)];
}

static Host* restored(const LilvState* state)
{
    Host* host = host_new();
    lilv_state_restore(state, host->instance, set_value, host, 0, features);
    for (uint32_t i = 0; i < port_count; ++i) {
        const float value = host->values[i];
        check(!(value < minima[i]) && !(value > maxima[i]), "a value is out of range");
    }
    return host;
}

/* Filters with a preset, and again with the state that the plugin saves with this preset. */
static void try_preset(const LilvNode* preset, const char* folder)
{
    lilv_world_load_resource(world, preset);
    LilvState* state = lilv_state_new_from_world(world, &map, preset);
    check(state && lilv_state_get_label(state), "a preset has no name");
    Host* host = restored(state);
    LilvState* saved = lilv_state_new_from_instance(
        plugin, host->instance, &map, NULL, NULL, NULL, NULL, get_value, host, LV2_STATE_IS_POD | LV2_STATE_IS_PORTABLE, features);
    char* text = lilv_state_to_string(world, &map, &unmap, saved, "urn:state", NULL);
    check(text, "a state cannot be written");
    LilvState* read = lilv_state_new_from_string(world, &map, text);
    check(read && lilv_state_equals(saved, read), "a state changes when it is written");
    Host* other = restored(read);
    float* first = play(host, 0);
    float* second = play(other, 0);
    check(!memcmp(first, second, 2 * frames * sizeof(float)), "a saved state sounds otherwise");
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s.f32", folder, lilv_state_get_label(state));
    FILE* file = fopen(path, "wb");
    check(file && fwrite(first, 2 * sizeof(float), frames, file) == frames, "cannot write a file");
    check(!fclose(file), "cannot write a file");
    free(second);
    free(first);
    host_free(other);
    host_free(host);
    lilv_state_free(read);
    free(text);
    lilv_state_free(saved);
    lilv_state_free(state);
}

/* Tries keys, the notes that are sent, latency and "enabled". */
static void try_ports(void)
{
    Host* host = host_new();
    host->values[port("keys")] = 1.0f;
    float* silent = play(host, 0);
    check(received == 0, "there are messages without any");
    float* played = play(host, 69);
    check(received == 1, "a message is not passed on");
    check(memcmp(silent, played, 2 * frames * sizeof(float)), "keys have no effect");
    host->values[port("keys")] = 0.0f;
    host->values[port("midi_out")] = 1.0f;
    free(play(host, 0));
    check(received > 5, "no notes are sent");
    host->values[port("lookahead")] = 1.0f;
    free(play(host, 0));
    check(host->values[lilv_plugin_get_latency_port_index(plugin)] == 2048.0f, "the latency is wrong");
    host->values[port("lookahead")] = 0.0f;
    host->values[port("enabled")] = 0.0f;
    free(play(host, 0));
    float* bypassed = play(host, 0);
    check(!memcmp(bypassed, input, 2 * frames * sizeof(float)), "what is not enabled changes the sound");
    free(bypassed);
    free(played);
    free(silent);
    host_free(host);
}

int main(int argc, char** argv)
{
    check(argc == 3, "give an input and a folder");
    FILE* file = fopen(argv[1], "rb");
    check(file, "the input cannot be read");
    float* samples = malloc(64u << 20);
    input = samples;
    frames = fread(samples, 2 * sizeof(float), (64u << 20) / (2 * sizeof(float)), file);
    fclose(file);
    check(frames > 0, "the input is empty");
    world = lilv_world_new();
    lilv_world_load_all(world);
    LilvNode* uri = lilv_new_uri(world, "urn:tone-filter:stereo");
    plugin = lilv_plugins_get_by_uri(lilv_world_get_all_plugins(world), uri);
    check(plugin && lilv_plugin_verify(plugin), "the plugin is missing or broken");
    check(lilv_plugin_has_latency(plugin), "the plugin reports no latency");
    port_count = lilv_plugin_get_num_ports(plugin);
    check(port_count <= PORTS, "there are more ports");
    lilv_plugin_get_port_ranges_float(plugin, minima, maxima, defaults);
    LilvNode* kind = lilv_new_uri(world, LV2_PRESETS__Preset);
    LilvNodes* presets = lilv_plugin_get_related(plugin, kind);
    LILV_FOREACH (nodes, i, presets) {
        try_preset(lilv_nodes_get(presets, i), argv[2]);
    }
    try_ports();
    printf("%u presets\n", lilv_nodes_size(presets));
    lilv_nodes_free(presets);
    lilv_node_free(kind);
    lilv_node_free(uri);
    lilv_world_free(world);
    free(samples);
    return 0;
}
