/** Bots that call one node without a pause while something happens to another, and what they have seen. */
import { setTimeout as pause } from 'node:timers/promises'

interface Answer {
  readonly ok: boolean
  readonly error_code?: number
  readonly result?: { readonly update_id: number; readonly message?: { readonly text: string } }[]
}

export const unlimited = Object.fromEntries(
  ['CALL', 'SEND', 'CHAT'].flatMap((of) => [
    [`${of}_RATE`, '1000000'],
    [`${of}_BURST`, '1000000'],
  ]),
)

/** Two that send texts of their own to `chat`, and one that polls. */
export function startCallers(url: string, key: string, chat: number) {
  const failures: unknown[] = []
  const seen: string[] = []
  const sent: string[] = []
  let isOver = false
  let longestMs = 0
  let cut = 0
  /** Undefined where the connection was lost: the process at its other end is gone. */
  const call = async (method: string, parameters: object) => {
    try {
      const response = await fetch(`${url}/bot${key}/${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(parameters),
      })
      const answer = (await response.json()) as Answer
      if (!answer.ok) failures.push(answer)
      return answer
    } catch {
      cut++
      return undefined
    }
  }
  const send = async (name: string) => {
    for (let at = 0; !isOver; at++) {
      const began = performance.now()
      const text = `message ${name}${at}`
      const answer = await call('sendMessage', { chat_id: chat, text })
      if (answer?.ok) sent.push(text)
      longestMs = Math.max(longestMs, performance.now() - began)
      await pause(10)
    }
  }
  const poll = async () => {
    for (let offset = 0; !isOver; ) {
      const answer = await call('getUpdates', { offset, timeout: 5 })
      for (const { update_id, message } of answer?.result ?? []) {
        offset = update_id + 1
        if (message) seen.push(message.text)
      }
    }
  }
  const callers = [send('a'), send('b'), poll()]
  return {
    failures,
    seen,
    sent,
    /** How many connections were lost under a call. */
    cut: () => cut,
    /** Of a call that sends. */
    longest: () => Math.round(longestMs),
    async end() {
      isOver = true
      await Promise.all(callers)
    },
  }
}
