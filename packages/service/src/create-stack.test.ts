import { createStack, startOnStack } from './create-stack.js';

test('steps run in reverse order, each after the one before has ended', async () => {
  const order: string[] = [];
  const stack = createStack();
  stack.defer(() => void order.push('first'));
  const taken = stack.use({
    async [Symbol.asyncDispose]() {
      await new Promise(setImmediate);
      order.push('second');
    },
  });
  stack.use({ [Symbol.dispose]: () => void order.push('third') });
  expect(typeof taken[Symbol.asyncDispose]).toBe('function');
  await stack[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
  expect(order).toEqual(['third', 'second', 'first']);
});

test('a step that fails or hangs is reported and the others still run', async () => {
  const order: string[] = [];
  const stack = createStack({ stepTimeoutMs: 20 });
  stack.defer(() => void order.push('ran'));
  stack.defer(() => new Promise<void>(() => {}));
  stack.defer(() => {
    throw new Error('pool is gone');
  });
  await expect(stack[Symbol.asyncDispose]()).rejects.toMatchObject({
    errors: [{ message: 'pool is gone' }, { message: 'A step of the stop took longer than 20 ms' }],
  });
  expect(order).toEqual(['ran']);
});

test('a start that fails stops what it had begun, and its own error stands', async () => {
  const order: string[] = [];
  const starting = startOnStack({}, async (stack) => {
    stack.defer(() => void order.push('ran'));
    stack.defer(() => {
      throw new Error('pool is gone');
    });
    throw new Error('port is in use');
  });
  await expect(starting).rejects.toThrow('port is in use');
  expect(order).toEqual(['ran']);
});

test('disposing what was started stops all of it', async () => {
  const order: string[] = [];
  const inner = { url: 'there', [Symbol.dispose]: () => void order.push('server') };
  const started = await startOnStack({}, async (stack) => {
    stack.defer(() => void order.push('pool'));
    return stack.use(inner);
  });
  expect(started.url).toBe('there');
  await started[Symbol.asyncDispose]();
  expect(order).toEqual(['server', 'pool']);
});
