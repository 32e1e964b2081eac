export interface Wake {
  /** Ends the present wait, or else the next one before it begins: a call between looking for work and waiting for it is not lost. */
  wake(): void;
  wait(timeoutMs: number): Promise<void>;
}

export function createWake(): Wake {
  let woken = false;
  let resume = () => {};
  return {
    wake() {
      woken = true;
      resume();
    },
    async wait(timeoutMs) {
      if (!woken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          resume = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      woken = false;
    },
  };
}
