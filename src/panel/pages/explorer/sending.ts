/** A call of the bot API with a key of the user, and its answer as it came. */

export interface Answer {
  readonly status: number
  readonly body: string
  readonly requestId: string | null
}

const TIMEOUT_MS = 60_000

const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g

/** JSON laid out to be read, anything else as it is. Numbers stay as they were written: a script would round long ones. */
export function laidOut(body: string): string {
  try {
    JSON.parse(body)
  } catch {
    return body
  }
  let text = ''
  let depth = 0
  let before = ''
  const line = () => `\n${'  '.repeat(depth)}`
  for (const [token] of body.matchAll(TOKENS)) {
    const opens = before === '{' || before === '['
    const closes = token === '}' || token === ']'
    if (closes) depth--
    if (opens !== closes) text += line()
    text += token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token
    if (token === ',') text += line()
    if (token === ':') text += ' '
    if (token === '{' || token === '[') depth++
    before = token
  }
  return text
}

export async function ask(key: string, method: string, body: object): Promise<Answer> {
  // The panel is served where the bot API is, so the call crosses no border between sites.
  const response = await fetch(`/bot${encodeURIComponent(key)}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    credentials: 'omit',
  })
  return {
    status: response.status,
    body: await response.text(),
    requestId: response.headers.get('x-request-id'),
  }
}
