/** What a client of a network does in its own process: so many messages out, a limited number of them at a time, and so many in. */
import { setTimeout as pause } from 'node:timers/promises'
import { now } from './statistics.ts'

export interface Sending {
  readonly to: string
  readonly count: number
  readonly atOnce: number
}

export const TEXT = 'The quick brown fox jumps over the lazy dog.'

export async function sendSpread(
  { count, atOnce }: Omit<Sending, 'to'>,
  send: (text: string) => Promise<unknown>,
): Promise<void> {
  let left = count
  const work = async () => {
    while (left-- > 0) await send(TEXT)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

export interface Pace {
  readonly perSecond: number
  readonly messages: number
}

/** Begins them at an even rate, whatever has become of the one before; resolves once all are done. */
export async function evenly(
  { perSecond, messages }: Pace,
  begin: (index: number) => Promise<unknown>,
): Promise<void> {
  const began = now()
  const begun: Promise<unknown>[] = []
  while (begun.length < messages) {
    const due = Math.min(messages, 1 + Math.floor(((now() - began) / 1000) * perSecond))
    while (begun.length < due) begun.push(begin(begun.length))
    await pause(Math.min(1_000 / perSecond, 2))
  }
  await Promise.all(begun)
}

/**
 * Counts what comes in; `expect` resolves once so much has. Some may have come before the call, which comes by another way
 * than the messages.
 */
export class Received {
  /** Below zero: what came and is not expected yet. */
  #left = 0
  #done: (() => void) | undefined

  expect(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#done = resolve
    this.note(-count)
    return promise
  }

  note(count = 1): void {
    this.#left -= count
    if (this.#left <= 0) this.#done?.()
  }
}
