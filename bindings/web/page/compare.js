// Comparison with the original, which plays while the button or the key is held. A short press keeps the original on.

// Maximum length of a short press in milliseconds.
const SHORT = 300;

export class Compare {
  #button;
  #change;
  #pressed; // Time of the press, while the button or the key is held.
  #wasDry = false; // Whether the original was on before the press.
  #ending = false; // Whether the next click is the end of a press.
  dry = false;

  // Calls `change` with true for the original and false for the filtered sound.
  constructor(button, change) {
    this.#button = button;
    this.#change = change;
    const press = () => {
      this.#ending = true;
      this.press();
    };
    const isKey = ({ key }) => key === " " || key === "Enter";
    button.onpointerdown = (event) => {
      if (event.button) return;
      button.setPointerCapture(event.pointerId);
      press();
    };
    button.onlostpointercapture = button.onblur = () => this.release();
    button.onkeydown = (event) => isKey(event) && !event.repeat && press();
    button.onkeyup = (event) => isKey(event) && this.release();
    // Screen readers click without a press.
    button.onclick = () => {
      if (!this.#ending) this.#show(!this.dry);
      this.#ending = false;
    };
    button.oncontextmenu = (event) => event.preventDefault();
    addEventListener("blur", () => this.release());
    this.#show(false);
  }

  press() {
    if (this.#pressed !== undefined) return;
    this.#pressed = performance.now();
    this.#wasDry = this.dry;
    this.#show(true);
  }

  release() {
    if (this.#pressed === undefined) return;
    const short = performance.now() - this.#pressed < SHORT;
    this.#pressed = undefined;
    this.#show(short && !this.#wasDry);
  }

  #show(dry) {
    if (dry !== this.dry) this.#change(dry);
    this.dry = dry;
    this.#button.classList.toggle("on", dry);
    this.#button.textContent = !dry ? "Hold for the original" : this.#pressed === undefined ? "Back to the effect" : "The original";
  }
}
