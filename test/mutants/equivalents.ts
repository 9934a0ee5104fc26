/** Mistakes that nobody can notice, looked at one by one: they make no difference, or none that matters. */

interface Equivalent {
  readonly file: string
  readonly operator: string
  /** Stands on the line of the mistake. */
  readonly at: string
  readonly because: string
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'src/updates/log.ts',
    operator: 'and / or',
    at: ' = before?.l',
    because: 'a promise or a map is never falsy',
  },
  {
    file: 'src/updates/read.ts',
    operator: 'arithmetic',
    at: 'columnsOf(segments(filter, after + 1, next))',
    because: 'the statement leaves out the updates up to the cursor in any case',
  },
  {
    file: 'src/webhooks/store.ts',
    operator: 'and / or',
    at: 'row.ip_address ?? undefined',
    because: 'the column is null or an address, never empty',
  },
  {
    file: 'src/webhooks/webhooks.ts',
    operator: 'boundary',
    at: 'this.#notified.size >= REMEMBERED',
    because: 'one key more is remembered before all are forgotten',
  },
  {
    file: 'src/webhooks/delivery-log.ts',
    operator: 'boundary',
    at: 'Date.now() >= this.#upkeepDue',
    because: 'the upkeep runs a millisecond later',
  },
  {
    file: 'src/webhooks/endpoint.ts',
    operator: 'min / max, some / every',
    at: 'Math.ceil(next - now)',
    because: 'the timer fires less than a millisecond early and is set again',
  },
  {
    file: 'src/webhooks/webhooks.ts',
    operator: 'dropped operand',
    at: 'ofChat.has(kind) && chatId !== null',
    because: 'updates of these kinds always have a chat',
  },
  {
    file: 'src/webhooks/exchange.ts',
    operator: 'dropped operand',
    at: 'this.#status >= 200 && this.#status < 300',
    because: 'the client hands out no answer below 200',
  },
  {
    file: 'src/identities/book.ts',
    operator: 'off by one',
    at: 'messageKey(chatIds.get(chat) ?? 0, native)',
    because:
      'only the chats of the batch are asked for, and all of them have an id; no chat has the id 0 or 1',
  },
  {
    file: 'src/updates/retention.ts',
    operator: 'boundary',
    at: 'where update_id < l.next_update_id - $2',
    because:
      'the log is looked at one update early, and the deletion has the same bound of its own',
  },
]

/** Whether nobody can notice a mistake of this kind on this line. */
export const isEquivalent = (file: string, operator: string, line: string): boolean =>
  equivalents.some((one) => one.file === file && one.operator === operator && line.includes(one.at))
