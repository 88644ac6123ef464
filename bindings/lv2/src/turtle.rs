//! Description of the bundle for hosts, in Turtle, generated from the tables of ports, settings and presets.

use crate::{
    ports::{BYPASS, Port, VARIANTS, Variant},
    state::key,
};
use tone_filter_dsp::{Choice, Controls, Setting, Spec, TEXTS, Taper};
use tone_filter_presets::{Preset, ids};

/// File name of the library in the bundle.
pub const LIBRARY: &str = "tone-filter.so";

const PLUGINS: &str = "tone-filter.ttl";
const PRESETS: &str = "presets.ttl";

const PREFIXES: &str = "\
@prefix atom: <http://lv2plug.in/ns/ext/atom#> .
@prefix doap: <http://usefulinc.com/ns/doap#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix lv2: <http://lv2plug.in/ns/lv2core#> .
@prefix midi: <http://lv2plug.in/ns/ext/midi#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix pg: <http://lv2plug.in/ns/ext/port-groups#> .
@prefix pprops: <http://lv2plug.in/ns/ext/port-props#> .
@prefix pset: <http://lv2plug.in/ns/ext/presets#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rsz: <http://lv2plug.in/ns/ext/resize-port#> .
@prefix state: <http://lv2plug.in/ns/ext/state#> .
@prefix time: <http://lv2plug.in/ns/ext/time#> .
@prefix units: <http://lv2plug.in/ns/extensions/units#> .
@prefix urid: <http://lv2plug.in/ns/ext/urid#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
";

/// Returns the files of the bundle beside [`LIBRARY`]: names and contents.
pub fn files() -> [(&'static str, String); 3] {
    [("manifest.ttl", manifest()), (PLUGINS, plugins()), (PRESETS, presets())]
}

fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn uri(variant: &Variant) -> String {
    format!("<{}>", variant.uri.to_string_lossy())
}

fn group(variant: &Variant, id: &str) -> String {
    format!("<{}#{id}>", variant.uri.to_string_lossy())
}

fn preset_uri(id: &str) -> String {
    format!("<urn:tone-filter:preset:{id}>")
}

fn join(parts: impl Iterator<Item = String>, separator: &str) -> String {
    parts.collect::<Vec<_>>().join(separator)
}

fn manifest() -> String {
    let plugin = |uri: String| {
        format!("\n{uri} a lv2:Plugin ; lv2:binary <{LIBRARY}> ; rdfs:seeAlso <{PLUGINS}> .\n")
    };
    let all = VARIANTS.each_ref().map(uri).join(" , ");
    let preset = |id| {
        let uri = preset_uri(id);
        format!("\n{uri} a pset:Preset ; lv2:appliesTo {all} ; rdfs:seeAlso <{PRESETS}> .\n")
    };
    let plugins = VARIANTS.each_ref().map(uri).map(plugin).concat();
    PREFIXES.to_owned() + &plugins + &ids().map(preset).collect::<String>()
}

fn plugins() -> String {
    let mut text = PREFIXES.to_owned();
    for setting in &TEXTS {
        text += &format!(
            "\n<{}> a rdf:Property , owl:DatatypeProperty ; rdfs:label {} ; rdfs:comment {} ; rdfs:range xsd:string .\n",
            key(setting).to_string_lossy(),
            literal(setting.id),
            literal("A setting that is no number, as it is in presets."),
        );
    }
    VARIANTS.iter().fold(text, |text, variant| text + &plugin(variant))
}

/// Returns LV2's minor and micro version: 2 and 6 for 0.2.3, 100 and 0 for 1.0.0. The patch is doubled, because an odd micro
/// version would mean a development version.
fn version() -> [u32; 2] {
    let mut parts = env!("CARGO_PKG_VERSION").split(['.', '-', '+']);
    let [major, minor, patch] = std::array::from_fn(|_| {
        parts.next().and_then(|part| part.parse::<u32>().ok()).unwrap_or(0)
    });
    [100 * major + minor, 2 * patch]
}

fn plugin(variant: &Variant) -> String {
    let [minor, micro] = version();
    let [input, output, sidechain] = ["in", "out", "sidechain"].map(|id| group(variant, id));
    let layout = if variant.channels == 2 { "pg:StereoGroup" } else { "pg:MonoGroup" };
    let mut text = format!(
        "\n{input} a {layout} , pg:InputGroup ; lv2:symbol \"in\" ; lv2:name \"In\" .\n\
         {output} a {layout} , pg:OutputGroup ; lv2:symbol \"out\" ; lv2:name \"Out\" ; pg:source {input} .\n"
    );
    if variant.sidechain {
        text += &format!(
            "{sidechain} a {layout} , pg:InputGroup ; lv2:symbol \"sidechain\" ; lv2:name \"Sidechain\" ; pg:sideChainOf {input} .\n"
        );
    }
    text += &format!(
        "\n{} a lv2:Plugin , lv2:FilterPlugin , doap:Project ;\n\
         \tdoap:name {} ;\n\
         \tdoap:shortdesc \"Picks the notes out of any music and gives them an 8-bit edge\" ;\n\
         \tdoap:maintainer [ a foaf:Person ; foaf:name \"Tone Filter\" ] ;\n\
         \tdoap:license <https://spdx.org/licenses/MIT> , <https://spdx.org/licenses/Apache-2.0> ;\n\
         \tlv2:minorVersion {minor} ;\n\
         \tlv2:microVersion {micro} ;\n\
         \tlv2:requiredFeature urid:map ;\n\
         \tlv2:optionalFeature lv2:hardRTCapable ;\n\
         \tlv2:extensionData state:interface ;\n\
         \tpg:mainInput {input} ;\n\
         \tpg:mainOutput {output} ;\n",
        uri(variant),
        literal(variant.name),
    );
    let ports = variant.ports().enumerate().map(|(index, port)| {
        let (symbol, rest) = (port.symbol(), description(port, variant));
        format!("\tlv2:port [\n\t\tlv2:index {index} ;\n\t\tlv2:symbol \"{symbol}\" ;\n{rest}\n\t]")
    });
    text + &join(ports, " ;\n") + " .\n"
}

/// Returns the description of `port` except its index and symbol. Only audio ports are in a group, because GStreamer counts
/// each port of a group as an audio channel.
fn description(port: Port, variant: &Variant) -> String {
    let audio = |direction: &str, channel: usize, place: &str, name: &str, properties: &str| {
        let (suffix, designation) = match (variant.channels, channel) {
            (2, 0) => (" Left", "pg:left"),
            (2, _) => (" Right", "pg:right"),
            _ => ("", "pg:center"),
        };
        let group = group(variant, place);
        format!(
            "\t\ta lv2:{direction}Port , lv2:AudioPort ;\n\t\tlv2:name \"{name}{suffix}\" ;\n\
             \t\tlv2:designation {designation} ;{properties}\n\t\tpg:group {group}"
        )
    };
    let fixed = match port {
        Port::Input(channel) => return audio("Input", channel, "in", "In", ""),
        Port::Output(channel) => return audio("Output", channel, "out", "Out", ""),
        Port::Sidechain(channel) => {
            let properties = "\n\t\tlv2:portProperty lv2:connectionOptional , lv2:isSideChain ;";
            return audio("Input", channel, "sidechain", "Sidechain", properties);
        }
        Port::Setting(setting) => return control(setting, port.get(&Controls::default())),
        Port::EventsIn => {
            "\t\ta lv2:InputPort , atom:AtomPort ;\n\t\tlv2:name \"Events in\" ;\n\
             \t\trdfs:comment \"MIDI that plays the keys, and the position of the song.\" ;\n\
             \t\tatom:bufferType atom:Sequence ;\n\
             \t\tatom:supports midi:MidiEvent , time:Position ;\n\
             \t\tlv2:designation lv2:control ;\n\t\tlv2:portProperty lv2:connectionOptional"
        }
        Port::EventsOut => {
            "\t\ta lv2:OutputPort , atom:AtomPort ;\n\t\tlv2:name \"Events out\" ;\n\
             \t\trdfs:comment \"The MIDI of Events in, and the detected notes.\" ;\n\
             \t\tatom:bufferType atom:Sequence ;\n\t\tatom:supports midi:MidiEvent ;\n\
             \t\trsz:minimumSize 16384 ;\n\t\tlv2:portProperty lv2:connectionOptional"
        }
        Port::Latency => {
            "\t\ta lv2:OutputPort , lv2:ControlPort ;\n\t\tlv2:name \"Latency\" ;\n\
             \t\tlv2:designation lv2:latency ;\n\
             \t\tlv2:portProperty lv2:reportsLatency , lv2:integer , pprops:notOnGUI ;\n\
             \t\tlv2:minimum 0 ;\n\t\tlv2:maximum 65536 ;\n\t\tunits:unit units:frame"
        }
    };
    fixed.to_owned()
}

/// Returns the description of a setting's port, whose default is `default`.
fn control(setting: Setting, default: f32) -> String {
    let (name, help, designation) = if setting.id() == BYPASS {
        let help = "Off lets the sound through untouched.";
        ("Enabled", help, "\t\tlv2:designation lv2:enabled ;\n")
    } else {
        (setting.name(), setting.help(), "")
    };
    let values = match setting {
        Setting::Number(spec) => number(spec, default),
        Setting::Choice(choice) => entries(choice, default),
        Setting::Text(_) => String::new(),
    };
    format!(
        "\t\ta lv2:InputPort , lv2:ControlPort ;\n\t\tlv2:name {} ;\n\t\trdfs:comment {} ;\n{designation}{values}",
        literal(name),
        literal(help),
    )
}

fn number(spec: &Spec, default: f32) -> String {
    let property = match spec.taper {
        Taper::Linear => "",
        Taper::Logarithmic => "\t\tlv2:portProperty pprops:logarithmic ;\n",
        Taper::Whole => "\t\tlv2:portProperty lv2:integer ;\n",
    };
    let (min, max, unit) = (spec.min, spec.max, unit(spec));
    format!(
        "{property}\t\tlv2:default {default:?} ;\n\t\tlv2:minimum {min:?} ;\n\t\tlv2:maximum {max:?} ;\n\t\tunits:unit {unit}"
    )
}

/// Returns LV2's unit, or the definition of a unit that LV2 lacks.
fn unit(spec: &Spec) -> String {
    let known = match spec.unit {
        "%" => "pc",
        "dB" => "db",
        "s" => "s",
        "ms" => "ms",
        "Hz" => "hz",
        "st" => "semitone12TET",
        "oct" => "oct",
        unit => {
            let (name, render) = (literal(unit), literal(&format!("%.{}f {unit}", spec.decimals)));
            return format!(
                "[ a units:Unit ; rdfs:label {name} ; units:symbol {name} ; units:render {render} ]"
            );
        }
    };
    format!("units:{known}")
}

fn entries(choice: &Choice, default: f32) -> String {
    let last = choice.entries.len() - 1;
    let range = format!("lv2:default {default} ;\n\t\tlv2:minimum 0 ;\n\t\tlv2:maximum {last}");
    if choice.is_switch() {
        return format!("\t\tlv2:portProperty lv2:toggled ;\n\t\t{range}");
    }
    let points = choice.entries.iter().enumerate().map(|(index, (_, name))| {
        format!("[ a lv2:ScalePoint ; rdfs:label {} ; rdf:value {index} ]", literal(name))
    });
    let points = join(points, " ,\n\t\t\t");
    format!(
        "\t\tlv2:portProperty lv2:integer , lv2:enumeration ;\n\t\t{range} ;\n\t\tlv2:scalePoint {points}"
    )
}

fn presets() -> String {
    let mut text = PREFIXES.to_owned();
    // The ports that presets set are the same in all plugins, so the first plugin can stand for all.
    let [variant, ..] = &VARIANTS;
    let all = VARIANTS.each_ref().map(uri).join(" , ");
    for (id, preset) in ids().filter_map(|id| Some((id, Preset::factory(id)?))) {
        let controls = Controls::from(preset.settings);
        let is_sound =
            |port: &Port| matches!(port, Port::Setting(setting) if !setting.is_routing());
        let values = variant.ports().filter(is_sound).map(|port| {
            let (symbol, value) = (port.symbol(), port.get(&controls));
            format!("[ lv2:symbol \"{symbol}\" ; pset:value {value:?} ]")
        });
        let texts = TEXTS.iter().map(|setting| {
            let text = literal(&setting.get(&preset.settings));
            format!("<{}> {text}", key(setting).to_string_lossy())
        });
        text += &format!(
            "\n{} a pset:Preset ;\n\tlv2:appliesTo {all} ;\n\trdfs:label {} ;\n\trdfs:comment {} ;\n\
             \tlv2:port {} ;\n\tstate:state [\n\t\t{}\n\t] .\n",
            preset_uri(id),
            literal(&preset.name),
            literal(&preset.description),
            join(values, " ,\n\t\t"),
            join(texts, " ;\n\t\t"),
        );
    }
    text
}
