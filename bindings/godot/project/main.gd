extends Control

## Keyboard keys, and the MIDI notes that they hold.
const NOTES := {KEY_A: 69, KEY_C: 72, KEY_E: 76}

var filter := AudioEffectToneFilter.new()
var held := {}

func _ready() -> void:
	AudioServer.add_bus()
	var bus := AudioServer.bus_count - 1
	AudioServer.set_bus_name(bus, "Music")
	AudioServer.add_bus_effect(bus, filter)
	var demo := ProjectSettings.globalize_path("res://").path_join("../../../assets/demo.wav")
	$Player.stream = AudioStreamWAV.load_from_file(demo)
	$Player.bus = "Music"
	$Player.play()

func _on_morph_changed(value: float) -> void:
	filter.set_number("morph", value)

func _unhandled_key_input(event: InputEvent) -> void:
	var key := event as InputEventKey
	if key.echo or key.keycode not in NOTES:
		return
	if key.pressed:
		held[key.keycode] = true
	else:
		held.erase(key.keycode)
	filter.key(NOTES[key.keycode], 1.0 if key.pressed else 0.0)
	filter.set_choice("keys", "off" if held.is_empty() else "hold-any")
