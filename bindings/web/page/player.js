// Player: the sources of the sound, and the controls to choose and play one.

const at = (id) => document.getElementById(id);
export const say = (text) => (at("status").textContent = text);
export const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

const WORDS = {
  paused: { song: "Play", microphone: "Listen" },
  starting: { song: "Starting…", microphone: "Waiting…" },
  playing: { song: "Pause" },
  listening: { microphone: "Stop" },
};

export function fail(text) {
  at("error").textContent = text;
  at("error").hidden = !text;
}

// Returns an event handler that runs an action and shows its error.
export const guarded = (action) => async (...parameters) => {
  fail("");
  try {
    await action(...parameters);
  } catch (error) {
    fail(error.message);
  }
};

async function fetchSound({ name, file }) {
  const response = await fetch(file).catch(() => undefined);
  if (!response?.ok) throw new Error(`“${name}” cannot be loaded. Check the connection and try again.`);
  return response.blob();
}

export class Player {
  #engine;
  #choose;
  #buttons = new Map(); // Button of each source: songs, the file and the microphone.
  #source;
  #file = {}; // The visitor's own file: its name and content, once one has been played.
  #microphone = {};
  #loading = true;
  onchange = () => {};

  // Calls `choose` with each song that the visitor chooses.
  constructor(engine, songs, choose) {
    this.#engine = engine;
    this.#choose = choose;
    for (const song of songs) {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "source" });
      const [name, about] = [document.createElement("b"), document.createElement("span")];
      [name.textContent, about.textContent] = [song.name, song.about];
      button.append(name, about);
      button.onclick = guarded(() => this.#playSong(song));
      at("songs").append(button);
      this.#buttons.set(song, button);
    }
    this.#buttons.set(this.#file, at("pick")).set(this.#microphone, at("microphone"));
    at("pick").onclick = () => {
      at("file").value = ""; // Otherwise the same file again would be no change.
      at("file").click();
    };
    at("file").onchange = () => this.#playFile(at("file").files[0]);
    at("microphone").onclick = guarded(() => this.#listen());
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      this.#playFile(event.dataTransfer.files[0]);
    });
    at("play").onclick = () => this.toggle();
    at("seek").oninput = () => this.seek(Number(at("seek").value));
    engine.audio.ontimeupdate = engine.audio.onloadedmetadata = () => this.#showTime();
    engine.onchange = () => this.show();
  }

  // Selects `song`, which the play button then plays, and loads it. Returns whether the song is still selected once it is
  // loaded.
  async select(song) {
    this.#engine.pause();
    this.#source = song;
    this.#loading = true;
    this.show();
    try {
      song.sound ??= await fetchSound(song);
    } finally {
      if (this.#source === song) this.#loading = false;
      this.show();
    }
    if (this.#source !== song) return false;
    this.#load(song.sound);
    return true;
  }

  async #playSong(song) {
    if (!(await this.select(song))) return;
    this.#choose(song);
    say("");
    await this.#engine.play();
  }

  #load(blob) {
    const { audio } = this.#engine;
    URL.revokeObjectURL(audio.src);
    audio.src = URL.createObjectURL(blob);
  }

  #playFile = guarded(async (file) => {
    if (!file) return;
    const before = this.#source;
    this.#engine.pause();
    this.#load(file);
    this.#source = this.#file;
    this.#loading = false;
    try {
      await this.#engine.play();
      Object.assign(this.#file, { name: file.name, sound: file });
      at("file-name").textContent = file.name;
      say("");
    } catch {
      this.#source = before;
      if (before.sound) this.#load(before.sound);
      throw new Error(`This browser cannot play “${file.name}”. Try WAV, MP3, FLAC, Ogg or M4A.`);
    } finally {
      this.show();
    }
  });

  async #listen() {
    this.#engine.pause();
    this.#source = this.#microphone;
    this.#loading = false;
    this.show();
    try {
      await this.#engine.listen();
      say("Listening. Use headphones, or loudspeaker and microphone will howl.");
    } catch (error) {
      const denied = error.name === "NotAllowedError";
      throw denied ? new Error("The browser does not allow the microphone. Allow it for this page, and try again.") : error;
    }
  }

  toggle = guarded(async () => {
    if (this.#engine.state !== "paused") {
      this.#engine.pause();
      say("");
    } else if (this.#source === this.#microphone) await this.#listen();
    else if (this.#source.sound) await this.#engine.play();
    // The last attempt to load the song has failed.
    else await this.#playSong(this.#source);
  });

  // The selected sound: its name and content; `undefined` while it loads, and for the microphone.
  get selected() {
    return this.#loading || !this.#source.sound ? undefined : this.#source;
  }

  // Length of the selected sound in seconds; 0 while it is unknown.
  get duration() {
    const { duration } = this.#engine.audio;
    return Number.isFinite(duration) ? duration : 0;
  }

  seek(seconds) {
    const { audio } = this.#engine;
    audio.currentTime = Math.min(audio.duration || 0, Math.max(0, seconds));
  }

  #showTime() {
    const { currentTime } = this.#engine.audio;
    const length = this.duration;
    at("seek").max = length || 1;
    at("seek").value = currentTime;
    at("seek").style.setProperty("--share", length ? currentTime / length : 0);
    at("time").value = `${clock(currentTime)} / ${clock(length)}`;
    at("seek").ariaValueText = at("time").value;
  }

  // Labels the buttons by the state of the engine.
  show() {
    const kind = this.#source === this.#microphone ? "microphone" : "song";
    at("play").textContent = this.#loading ? "Loading…" : WORDS[this.#engine.state][kind];
    at("play").disabled = this.#loading;
    at("seek").disabled = kind === "microphone";
    this.#buttons.forEach((button, source) => (button.ariaPressed = source === this.#source));
    this.onchange();
  }
}

