/** What the spool and its platform tell each other: one JSON value a line. */

/** An event, numbered in its account (`number`) and in its chat (`place`), both from 1 on. */
export interface SpoolEvent {
  readonly number: number
  readonly chat: string
  readonly place: number
}

/** From the platform: who it is and how far its events are stored, then how far they may be forgotten. */
export type FromPlatform =
  | { readonly hello: string; readonly stored: number; readonly epoch: number }
  | { readonly send: string; readonly text: string }
  | { readonly acknowledged: number }
  | { readonly ping: number }

export type FromSpool =
  | { readonly event: SpoolEvent }
  | { readonly pong: number }
  | { readonly sent: string }
  /** Another connection has taken the account. */
  | { readonly replaced: true }

export const textOf = ({ chat, place }: SpoolEvent): string => `${chat}:${place}`

/** Calls back with every whole line; what is left waits for its end. */
export function byLine(take: (line: string) => void): (chunk: string) => void {
  let rest = ''
  return (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line)
  }
}
