// Audio graph: source, filter, output.

import { ToneFilterNode } from "./tone-filter/index.js";

const end = (stream) => stream.getTracks().forEach((track) => track.stop());

export class Engine {
  #context = new AudioContext();
  #source; // Node that is connected to the filter.
  #element; // The node of the audio element.
  #stream; // The microphone's stream, while it is the source.
  #attempt; // The start of a source in progress, if any.
  audio = new Audio();
  node;
  onchange = () => {};

  // Creates everything in advance, so that the first click only has to start the sound.
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
      // The system has interrupted the sound, for instance for a phone call.
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

  // Starts a source by calling `begin`, whose argument is a function that returns whether this start has been cancelled.
  async #start(begin) {
    const attempt = (this.#attempt = {});
    const stopped = () => this.#attempt !== attempt;
    this.onchange();
    try {
      // Browsers require both calls within the click.
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
