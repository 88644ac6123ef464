// The audio thread.

import { Filter } from "./filter.js";

class Processor extends AudioWorkletProcessor {
  constructor({ processorOptions: { module, settings } }) {
    super();
    this.filter = new Filter(module, sampleRate);
    this.filter.setJson(settings);
    this.filter.reset();
    this.port.onmessage = ({ data }) => this.receive(data);
  }

  receive({ type, ...data }) {
    const { filter, port } = this;
    switch (type) {
      case "settings": filter.setJson(data.json); break;
      case "set": filter.set(data.id, data.value); break;
      case "key": filter.key(data.note, data.velocity); break;
      case "score": filter.setScore(data.text); break;
      case "seek": filter.seek(data.seconds); break;
      case "release": filter.releaseKeys(); break;
      // The page sends the memory for a picture, so that none is allocated here.
      case "picture":
        filter.picture(data.numbers);
        port.postMessage({ type, numbers: data.numbers }, [data.numbers.buffer]);
        break;
      case "ask":
        port.postMessage({ type, json: filter.json(), latency: filter.latency(), tail: filter.tail() });
        break;
    }
  }

  process([input], [output]) {
    this.filter.process(input, output);
    return true;
  }
}

registerProcessor("tone-filter", Processor);
