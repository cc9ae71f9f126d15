"""The app that `detent dev` runs when it isn't given one. Copy it, and make it yours."""

from detent import Context, Detent, cron, every, exponential

app = Detent("example")


@app.task(timeout="10s")
async def greet(name: str) -> str:
    return f"hello, {name}"


@app.task(retry=exponential(3, base="1s"))
async def report(context: Context, team: str) -> dict[str, str]:
    if context.attempt == 1:
        raise ConnectionError("the warehouse is busy")  # so that you see a retry
    return {"team": team, "until": context.scheduled_for.isoformat()}


app.schedule("greet-the-world", cron("*/5 * * * * *"), greet, name="world")
app.schedule("report-ops", every("10s"), report, team="ops")
app.schedule("report-sales", cron("0 9 * * MON-FRI", tz="Europe/Berlin"), report, team="sales")
