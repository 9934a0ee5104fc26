/** Takes server-sent events out of text that arrives in pieces. */
export interface ServerEvent {
  readonly name: string
  readonly data: string
}

export function parseEvents(text: string): { events: ServerEvent[]; rest: string } {
  const blocks = text.split('\n\n')
  const rest = blocks.pop() ?? ''
  return { events: blocks.flatMap(eventOf), rest }
}

function eventOf(block: string): ServerEvent[] {
  const lines = block.split('\n')
  const valuesOf = (field: string) =>
    lines
      .filter((line) => line.startsWith(`${field}: `))
      .map((line) => line.slice(field.length + 2))
  const data = valuesOf('data')
  // A comment keeps the connection alive.
  return data.length === 0
    ? []
    : [{ name: valuesOf('event').at(-1) ?? 'message', data: data.join('\n') }]
}
