// What the scripts of several transports share.
export async function eventually(condition, what) {
  const end = Date.now() + 30_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export const textOf = (result) => result.content.map((one) => one.text ?? "").join("\n");

/// The SDK hands progress over one microtask later than an answer, and by then has forgotten the
/// token: what comes in one read with the answer is an error to it. Each step is the one or the other.
/// Takes the errors.
export async function checkProgress(progress, expected, errors) {
  await new Promise((resolve) => setTimeout(resolve, 0));
  const isLate = (error) => /progress notification for an unknown token/.test(error);
  const late = errors.filter(isLate).length;
  const isBeginning = JSON.stringify(progress) === JSON.stringify(expected.slice(0, progress.length));
  if (!isBeginning || progress.length + late !== expected.length)
    throw new Error(`progress ${JSON.stringify(progress)} and ${late} too late, expected ${JSON.stringify(expected)}`);
  const rest = errors.splice(0).filter((error) => !isLate(error));
  if (rest.length > 0) throw new Error(rest.join());
}
