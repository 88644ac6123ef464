/* Unity's interface for native audio plugins, version 1.4.2, as a host sees it: the types that an effect of a mixer needs. */

#include <stdint.h>

#if defined(_WIN32)
#define CALLBACK __stdcall
#else
#define CALLBACK
#endif

typedef struct EffectState {
    uint32_t struct_size, sample_rate;
    uint64_t current_dsp_tick, previous_dsp_tick;
    float *sidechain;
    void *effect_data;
    uint32_t flags;
    void *internal, *spatializer;
    uint32_t dsp_buffer_size, host_api_version;
    void *ambisonic;
} EffectState;

typedef struct ParameterDefinition {
    char name[16], unit[16];
    const char *description;
    float min, max, default_value, display_scale, display_exponent;
} ParameterDefinition;

typedef int (CALLBACK *Manage)(EffectState *);
typedef int (CALLBACK *Process)(EffectState *, float *, float *, unsigned int, int, int);
typedef int (CALLBACK *SetPosition)(EffectState *, unsigned int);
typedef int (CALLBACK *SetParameter)(EffectState *, int, float);
typedef int (CALLBACK *GetParameter)(EffectState *, int, float *, char *);
typedef int (CALLBACK *GetBuffer)(EffectState *, const char *, float *, int);

typedef struct EffectDefinition {
    uint32_t struct_size, parameter_struct_size, api_version, plugin_version, channels, parameter_count;
    uint64_t flags;
    char name[32];
    Manage create, release, reset;
    Process process;
    SetPosition set_position;
    ParameterDefinition *parameters;
    SetParameter set_parameter;
    GetParameter get_parameter;
    GetBuffer get_buffer;
} EffectDefinition;
