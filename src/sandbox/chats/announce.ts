/** Announces a change of a chat as a service message in it. */
import type { Message, Service } from '../../../machines/model/content.ts'
import type { ActingPerson, Outbox } from '../network/context.ts'

/** `native` names the chat. The device that made the change receives the message, too. */
export const announce = (
  { outbox }: { readonly outbox: Outbox },
  { person }: ActingPerson,
  native: number,
  facts: Service,
  topic?: number | null,
): Promise<Message> =>
  outbox.send({
    sender: person,
    native,
    request: crypto.randomUUID(),
    content: { kind: 'service', ...facts },
    ...(topic != null && { topic }),
  })
