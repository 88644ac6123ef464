/* Prints sizes and offsets of the interface's types, as this compiler has them. */

#include "unity.h"
#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("%s %zu\n", #type, sizeof(type))
#define OFFSET(type, field) printf("%s.%s %zu\n", #type, #field, offsetof(type, field))

int main(void) {
    SIZE(EffectState);
    OFFSET(EffectState, struct_size);
    OFFSET(EffectState, sample_rate);
    OFFSET(EffectState, current_dsp_tick);
    OFFSET(EffectState, previous_dsp_tick);
    OFFSET(EffectState, sidechain);
    OFFSET(EffectState, effect_data);
    OFFSET(EffectState, flags);
    OFFSET(EffectState, internal);
    OFFSET(EffectState, spatializer);
    OFFSET(EffectState, dsp_buffer_size);
    OFFSET(EffectState, host_api_version);
    OFFSET(EffectState, ambisonic);
    SIZE(ParameterDefinition);
    OFFSET(ParameterDefinition, name);
    OFFSET(ParameterDefinition, unit);
    OFFSET(ParameterDefinition, description);
    OFFSET(ParameterDefinition, min);
    OFFSET(ParameterDefinition, max);
    OFFSET(ParameterDefinition, default_value);
    OFFSET(ParameterDefinition, display_scale);
    OFFSET(ParameterDefinition, display_exponent);
    SIZE(EffectDefinition);
    OFFSET(EffectDefinition, struct_size);
    OFFSET(EffectDefinition, parameter_struct_size);
    OFFSET(EffectDefinition, api_version);
    OFFSET(EffectDefinition, plugin_version);
    OFFSET(EffectDefinition, channels);
    OFFSET(EffectDefinition, parameter_count);
    OFFSET(EffectDefinition, flags);
    OFFSET(EffectDefinition, name);
    OFFSET(EffectDefinition, create);
    OFFSET(EffectDefinition, release);
    OFFSET(EffectDefinition, reset);
    OFFSET(EffectDefinition, process);
    OFFSET(EffectDefinition, set_position);
    OFFSET(EffectDefinition, parameters);
    OFFSET(EffectDefinition, set_parameter);
    OFFSET(EffectDefinition, get_parameter);
    OFFSET(EffectDefinition, get_buffer);
    return 0;
}
