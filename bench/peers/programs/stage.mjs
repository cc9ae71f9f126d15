// What a program in JavaScript and the benchmark say to each other; stage.py is the same for Python.
//
// `program.mjs VERB JSON`. A worker makes the file <pid>.loaded when its code is there, waits for a line on stdin, makes
// <pid>.working when it works, and ends when stdin does. Its handlers append pairs of doubles to <pid>.stamps: when the
// job was due, and when it began, in seconds since 1970.
import fs from "node:fs";
import { createRequire } from "node:module";

const FLUSH_MS = 5;

export const verb = process.argv[2];
export const told = JSON.parse(process.argv[3]);

/** Packages lie where the program is started, not where it is written. */
export const load = createRequire(`${process.cwd()}/`);

let pending = [];
let file;

export function now() {
  return (performance.timeOrigin + performance.now()) / 1000;
}

export function began(due) {
  pending.push(due, now());
}

function flush() {
  if (pending.length === 0) return;
  fs.writeSync(file, new Uint8Array(Float64Array.from(pending).buffer));
  pending = [];
}

function mark(word) {
  fs.writeFileSync(`${told.folder}/${process.pid}.${word}`, "");
}

/** Resolves when the benchmark says so. */
export async function go() {
  file = fs.openSync(`${told.folder}/${process.pid}.stamps`, "a");
  process.stdin.on("end", () => {
    flush();
    process.exit(0);
  });
  const word = new Promise((resolve) => process.stdin.once("data", resolve));
  mark("loaded");
  await word;
  setInterval(flush, FLUSH_MS);
}

export function working() {
  mark("working");
}

/** The instants of the jobs to load, in batches. */
export function* dues(size) {
  for (let start = 0; start < told.n; start += size) {
    const many = Math.min(size, told.n - start);
    yield Array.from({ length: many }, (_, i) => told.first + (start + i) * told.step);
  }
}

/** On the whole millisecond: a bare product would fall short of some. */
export function instant(due) {
  return new Date(Math.round(due * 1000));
}

/** Of a schedule that doesn't tell its slot: the minute that has begun, or begins within a second. */
export function minute() {
  return Math.floor((now() + 1) / 60) * 60;
}
