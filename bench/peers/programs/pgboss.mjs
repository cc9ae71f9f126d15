// pg-boss. Its options are those of work().
import { began, dues, go, instant, load, minute, told, verb, working } from "./stage.mjs";

const { PgBoss } = load("pg-boss");

const BATCH = 5000;
const AT_ONCE = 8;

function boss(options) {
  const made = new PgBoss({ connectionString: told.url, schedule: false, ...options });
  made.on("error", (error) => console.error(error));
  return made.start();
}

async function install() {
  await (await boss()).createQueue("noop");
}

async function loadJobs() {
  const queue = await boss({ supervise: false });
  for (const batch of dues(BATCH)) {
    await queue.insert("noop", batch.map((due) => ({ data: { due }, startAfter: instant(due) })));
  }
}

async function register(queue) {
  let next = 0;
  const some = async () => {
    while (next < told.schedules) {
      await queue.schedule("noop", "* * * * *", null, { key: `bench-${next++}`, tz: "UTC" });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
}

async function work() {
  await go();
  // As often as it lets itself be told.
  const crons = { schedule: true, cronMonitorIntervalSeconds: 1, cronWorkerIntervalSeconds: 1 };
  const queue = await boss(told.schedules ? crons : {});
  await register(queue);
  await queue.work("noop", told.options, async (jobs) => {
    for (const job of jobs) began(job.data?.due ?? minute());
  });
  working();
  await new Promise(() => {});
}

if (verb === "install") await install();
else if (verb === "load") await loadJobs();
else await work();
process.exit(0);
