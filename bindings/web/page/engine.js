// The sound: where it comes from, the filter, and the way to the loudspeakers.

import { ToneFilterNode } from "./tone-filter/index.js";

const end = (stream) => stream.getTracks().forEach((track) => track.stop());

export class Engine {
  #context = new AudioContext();
  #source; // Node that is connected to the filter.
  #element; // The node of the audio element.
  #stream; // The microphone's stream, while it is the source.
  #attempt; // The start that is under way.
  audio = new Audio();
  node;
  onchange = () => {};

  // Creates everything before the first click, which then only has to start the sound.
  static async create() {
    const engine = new Engine();
    engine.node = await ToneFilterNode.create(engine.#context);
    engine.node.connect(engine.#context.destination);
    return engine;
  }

  constructor() {
    const { audio } = this;
    audio.loop = true;
    this.#element = this.#context.createMediaElementSource(audio);
    for (const type of ["play", "playing", "waiting", "pause", "emptied"]) audio.addEventListener(type, () => this.onchange());
    this.#context.onstatechange = () => {
      // The system has taken the sound away, such as for a call.
      if (this.#context.state !== "running" && !this.#attempt) this.pause();
    };
  }

  // State: paused, starting, playing or listening.
  get state() {
    if (this.#attempt) return "starting";
    if (this.#stream) return "listening";
    if (this.audio.paused) return "paused";
    return this.audio.readyState < HTMLMediaElement.HAVE_FUTURE_DATA ? "starting" : "playing";
  }

  // Starts a source. `begin` gets a function that tells whether the start has been stopped meanwhile.
  async #start(begin) {
    const attempt = (this.#attempt = {});
    const stopped = () => this.#attempt !== attempt;
    this.onchange();
    try {
      // Browsers want both calls within the click.
      await Promise.all([this.#context.resume(), begin(stopped)]);
    } catch (error) {
      if (!stopped()) throw error;
    } finally {
      if (!stopped()) this.#attempt = undefined;
      this.onchange();
    }
  }

  #connect(source) {
    this.#source?.disconnect();
    this.#source = source;
    source.connect(this.node);
  }

  async play() {
    await this.#start(() => {
      this.#connect(this.#element);
      return this.audio.play();
    });
  }

  async listen() {
    if (!navigator.mediaDevices?.getUserMedia) throw new Error("This browser has no access to a microphone.");
    const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
    await this.#start(async (stopped) => {
      const stream = await navigator.mediaDevices.getUserMedia({ audio });
      if (stopped()) return end(stream);
      this.#stream = stream;
      this.#connect(this.#context.createMediaStreamSource(stream));
      // The microphone may be unplugged.
      stream.getTracks().forEach((track) => (track.onended = () => this.pause()));
    });
  }

  // Stops the audio element and the microphone.
  pause() {
    this.#attempt = undefined;
    this.audio.pause();
    if (this.#stream) {
      end(this.#stream);
      this.#source.disconnect();
      this.#stream = this.#source = undefined;
    }
    this.onchange();
  }
}
