import { renderMetrics } from '@acsp/telemetry';

/** The present value of a series, such as `acsp_dead_letters_total{consumer="x"}`; undefined where it is not exported. */
export async function metric(series: string): Promise<number | undefined> {
  const lines = (await renderMetrics()).split('\n');
  const line = lines.find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}
