import { createStack } from './create-stack.js';

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
