/* A host that acts as Unity does: loads the library, reads the definition, and filters a stereo file of raw 32-bit floats in
   blocks of 1024 frames, while a thread reads the levels of the bands.

   host LIBRARY IN OUT [PARAMETER VALUE]... */

#define _POSIX_C_SOURCE 200809L

#include "unity.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 1024, RATE = 44100 };

static EffectDefinition *effect;
static atomic_int done;

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* Reads the levels, as a display does, a few hundred times a second. */
static void *watch(void *state) {
    const struct timespec pause = { 0, 2000000 };
    float levels[77], most = 0;
    while (!atomic_load(&done)) {
        if (effect->get_buffer(state, "Notes", levels, 77) != 0)
            fail("no levels");
        for (int i = 0; i < 77; i++)
            most = levels[i] > most ? levels[i] : most;
        nanosleep(&pause, NULL);
    }
    if (!(most >= 0 && most <= 1))
        fail("a level out of range");
    return NULL;
}

static void set(EffectState *state, const char *name, float value) {
    for (int i = 0; i < (int)effect->parameter_count; i++)
        if (strcmp(effect->parameters[i].name, name) == 0) {
            float read = -1;
            if (effect->set_parameter(state, i, value) != 0 || effect->get_parameter(state, i, &read, NULL) != 0 || read != value)
                fail("a parameter cannot be set");
            return;
        }
    fail("no such parameter");
}

int main(int argc, char **argv) {
    if (argc < 4)
        fail("host LIBRARY IN OUT [PARAMETER VALUE]...");
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail(dlerror());
    GetDefinitions get;
    *(void **)&get = dlsym(library, "UnityGetAudioEffectDefinitions");
    EffectDefinition **list;
    if (!get || get(&list) != 1)
        fail("no definition");
    effect = list[0];
    if (effect->struct_size != sizeof(EffectDefinition) || effect->parameter_struct_size != sizeof(ParameterDefinition))
        fail("structs of another size");

    for (int i = 0; i < 100; i++) {
        EffectState other = { .struct_size = sizeof(EffectState), .sample_rate = RATE };
        if (effect->create(&other) != 0 || effect->release(&other) != 0)
            fail("an instance does not come and go");
    }
    EffectState state = { .struct_size = sizeof(EffectState), .sample_rate = RATE, .dsp_buffer_size = FRAMES, .host_api_version = effect->api_version };
    if (effect->create(&state) != 0)
        fail("no instance");
    for (int i = 4; i + 1 < argc; i += 2)
        set(&state, argv[i], strtof(argv[i + 1], NULL));

    FILE *in = fopen(argv[2], "rb"), *out = fopen(argv[3], "wb");
    if (!in || !out)
        fail("a file cannot be opened");
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch, &state) != 0)
        fail("no thread");
    float input[2 * FRAMES], output[2 * FRAMES];
    size_t frames;
    while ((frames = fread(input, 2 * sizeof(float), FRAMES, in)) > 0) {
        if (effect->process(&state, input, output, (unsigned)frames, 2, 2) != 0)
            fail("a block is refused");
        state.previous_dsp_tick = state.current_dsp_tick;
        state.current_dsp_tick += frames;
        if (fwrite(output, 2 * sizeof(float), frames, out) != frames)
            fail("the output cannot be written");
    }
    atomic_store(&done, 1);
    pthread_join(watcher, NULL);
    if (fclose(out) != 0 || fclose(in) != 0 || effect->release(&state) != 0)
        fail("it does not end well");
    printf("%s, %u parameters, version %06x\n", effect->name, effect->parameter_count, effect->api_version);
    return 0;
}
