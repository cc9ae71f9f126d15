// Graphile Worker. Its options are those of its preset.
import { began, dues, go, instant, load, told, verb, working } from "./stage.mjs";

const { Logger, makeWorkerUtils, run, runMigrations } = load("graphile-worker");

const BATCH = 5000;
const logger = new Logger(() => (level, message) => {
  if (level === "error") console.error(message);
});

async function loadJobs() {
  const utils = await makeWorkerUtils({ connectionString: told.url, logger });
  for (const batch of dues(BATCH)) {
    await utils.addJobs(
      batch.map((due) => ({ identifier: "noop", payload: { due }, runAt: instant(due) })),
    );
  }
  await utils.release();
}

async function work() {
  await go();
  const lines = Array.from({ length: told.schedules }, (_, i) => `* * * * * noop ?id=bench_${i}\n`);
  const runner = await run({
    preset: { worker: { connectionString: told.url, ...told.options } },
    logger,
    noHandleSignals: true,
    crontab: lines.join(""),
    taskList: {
      noop: (payload) => began(payload._cron ? Date.parse(payload._cron.ts) / 1000 : payload.due),
    },
  });
  working();
  await runner.promise;
}

if (verb === "install") await runMigrations({ connectionString: told.url, logger });
else if (verb === "load") await loadJobs();
else await work();
process.exit(0);
