// ALSA sequencer without events, for hosts that do not start without one. Preloaded on kernels that lack it.
#include <poll.h>
#include <stddef.h>

static int handle;

#define ALWAYS(name, value) \
    int name(void) { return value; }

int snd_seq_open(void **own) {
    *own = &handle;
    return 0;
}
int snd_seq_poll_descriptors(void *own, struct pollfd *polled) {
    (void)own;
    *polled = (struct pollfd){.fd = -1};
    return 1;
}
int snd_seq_event_input(void *own, void **event) {
    (void)own;
    *event = NULL;
    return -11;
}
ALWAYS(snd_seq_poll_descriptors_count, 1)
ALWAYS(snd_seq_client_id, 128)
ALWAYS(snd_seq_query_next_client, -2)
ALWAYS(snd_seq_query_next_port, -2)
ALWAYS(snd_seq_query_port_subscribers, -2)
ALWAYS(snd_seq_alloc_queue, 0)
ALWAYS(snd_seq_close, 0)
ALWAYS(snd_seq_control_queue, 0)
ALWAYS(snd_seq_create_simple_port, 0)
ALWAYS(snd_seq_delete_simple_port, 0)
ALWAYS(snd_seq_drain_output, 0)
ALWAYS(snd_seq_drop_input, 0)
ALWAYS(snd_seq_drop_output, 0)
ALWAYS(snd_seq_event_input_pending, 0)
ALWAYS(snd_seq_event_output, 0)
ALWAYS(snd_seq_event_output_direct, 0)
ALWAYS(snd_seq_free_queue, 0)
ALWAYS(snd_seq_get_any_client_info, -2)
ALWAYS(snd_seq_get_any_port_info, -2)
ALWAYS(snd_seq_get_port_info, 0)
ALWAYS(snd_seq_get_queue_status, 0)
ALWAYS(snd_seq_get_queue_tempo, 0)
ALWAYS(snd_seq_remove_events, 0)
ALWAYS(snd_seq_set_client_name, 0)
ALWAYS(snd_seq_set_port_info, 0)
ALWAYS(snd_seq_set_queue_tempo, 0)
ALWAYS(snd_seq_set_queue_timer, 0)
ALWAYS(snd_seq_subscribe_port, 0)
ALWAYS(snd_seq_unsubscribe_port, 0)
