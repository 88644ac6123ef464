// Reads the notes of a score from the text that `tone-filter bands song.wav --score song.tfs` writes.

const HEADER = "tone-filter-score 1";

// Maximum distance of a time from the start of the music, in seconds: 30 years.
const LONGEST = 1e9;

export function readScore(text) {
  const [header, ...lines] = text.replace(/^\ufeff/, "").split(/\r?\n/).map((line) => line.trim());
  if (header !== HEADER) throw new SyntaxError(`the score: line 1 is not "${HEADER}", as in a score of this version`);
  const notes = [];
  lines.forEach((line, index) => {
    if (line && !line.startsWith("#")) notes.push(readNote(line, (reason) => new SyntaxError(`the score: line ${index + 2}: ${reason}`)));
  });
  return notes;
}

function readNote(line, wrong) {
  const words = line.split(/\s+/);
  const number = (name, least, most, otherwise) => {
    const word = words.shift() ?? otherwise;
    if (word === undefined) throw wrong(`has no ${name}; write start, end and note`);
    const value = Number(word);
    if (!(value >= least && value <= most)) throw wrong(`${name} = ${word} is out of range; use ${least} to ${most}`);
    return value;
  };
  const start = number("start", -LONGEST, LONGEST);
  const end = number("end", -LONGEST, LONGEST);
  const note = Math.round(number("note", 0, 127));
  const velocity = Math.floor(number("velocity", 1, 127, 64));
  const place = number("place", -100, 100, 0) / 100;
  if (words.length) throw wrong(`${words[0]} is one number too many; write start, end, note, velocity, place`);
  if (end <= start) throw wrong(`ends at ${end}, which is not after its start`);
  return { start, end, note, velocity, place };
}
