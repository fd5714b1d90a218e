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
/// token: the last progress is lost to it when both come in one read. All steps but that one count.
export function checkProgress(progress, expected, errors) {
  const complete = JSON.stringify(progress) === JSON.stringify(expected);
  const butTheLast = JSON.stringify(progress) === JSON.stringify(expected.slice(0, -1));
  if (!complete && !butTheLast) throw new Error(`progress ${JSON.stringify(progress)}, expected ${JSON.stringify(expected)}`);
  const rest = errors.filter((error) => !/progress notification for an unknown token/.test(error));
  if (rest.length > 0) throw new Error(rest.join());
}
