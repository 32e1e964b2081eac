import { counter, gauge, histogram, renderMetrics } from './metrics.js';

test('the same name is the same metric, wherever it is asked for', async () => {
  counter('acsp_test_requests_total', 'Requests', ['route']).inc({ route: '/a' });
  counter('acsp_test_requests_total', 'Requests', ['route']).inc({ route: '/a' }, 2);
  expect(await renderMetrics()).toContain('acsp_test_requests_total{route="/a"} 3');
});

test('a gauge is read at each scrape, and its export ends when it has no value', async () => {
  let open: number | undefined = 2;
  gauge('acsp_test_open', 'Open', ['door']).export({ door: 'a' }, () => open);
  gauge('acsp_test_open', 'Open', ['door']).export({ door: 'b' }, () => 7);
  expect(await renderMetrics()).toContain('acsp_test_open{door="a"} 2');
  open = 1;
  expect(await renderMetrics()).toContain('acsp_test_open{door="a"} 1');
  open = undefined;
  expect(await renderMetrics()).not.toContain('acsp_test_open{door="a"}');
  expect(await renderMetrics()).toContain('acsp_test_open{door="b"} 7');
});

test('exports with the same labels are one series with their sum, until the last of them ends', async () => {
  const values: (number | undefined)[] = [3, 4];
  for (const index of values.keys()) gauge('acsp_test_sum', 'Sum', ['pool']).export({ pool: 'a' }, () => values[index]);
  expect(await renderMetrics()).toContain('acsp_test_sum{pool="a"} 7');
  values[0] = undefined;
  expect(await renderMetrics()).toContain('acsp_test_sum{pool="a"} 4');
  values[1] = undefined;
  expect(await renderMetrics()).not.toContain('acsp_test_sum{');
});

test('histograms count into buckets of seconds', async () => {
  histogram('acsp_test_seconds', 'Time', ['code']).observe({ code: 200 }, 0.03);
  const text = await renderMetrics();
  expect(text).toContain('acsp_test_seconds_bucket{le="0.05",code="200"} 1');
  expect(text).toContain('acsp_test_seconds_bucket{le="0.025",code="200"} 0');
});

test('metrics of the process are included', async () => {
  const text = await renderMetrics();
  expect(text).toContain('process_cpu_seconds_total');
  expect(text).toContain('nodejs_eventloop_lag_seconds');
});
