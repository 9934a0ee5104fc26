/** Every native id that an event or a result speaks of, so that their integers can be looked up in one go. */
import type { Chat, Message, Origin, Person, Surface } from '../../machines/content.ts'
import type { Happening } from '../../machines/happening.ts'

export class Natives {
  readonly chats = new Map<string, Surface>()
  /** Messages by their chat: those that get an integer if they have none yet. */
  readonly messages = new Map<string, Set<string>>()
  /** Those of them that the account wrote itself. */
  readonly own = new Set<string>()
  /** Messages that are only mentioned: an old message gets no new, higher number for that. */
  readonly mentioned = new Map<string, Set<string>>()

  addHappening(happening: Happening): void {
    if (happening.kind === 'deleted') return
    this.addMessage(happening.message, happening.direction === 'own')
    if (happening.kind === 'callback') this.addPerson(happening.from)
  }

  addMessage(message: Message, isOwn: boolean): void {
    const { chat, from, native, replyTo, forward } = message
    this.addChat(chat)
    if (from) this.addPerson(from)
    put(this.messages, chat.native, native)
    if (isOwn) this.own.add(native)
    if (forward) this.#addOrigin(forward)
    if (replyTo) {
      put(this.mentioned, chat.native, replyTo.native)
      if (replyTo.message?.from) this.addPerson(replyTo.message.from)
    }
    const { content } = message
    const entities = content.kind === 'text' ? content.entities : []
    for (const { person } of entities) if (person) this.chats.set(person, 'private')
    if (content.kind !== 'service') return
    if (content.fact === 'joined') for (const person of content.people) this.addPerson(person)
    if (content.fact === 'left') this.addPerson(content.person)
    if (content.fact === 'pinned') put(this.mentioned, chat.native, content.message)
  }

  addChat({ native, surface }: Chat): void {
    this.chats.set(native, surface)
  }

  addPerson({ native }: Person): void {
    if (!this.chats.has(native)) this.chats.set(native, 'private')
  }

  #addOrigin(origin: Origin): void {
    if (origin.from === 'person') this.addPerson(origin.person)
    if (origin.from !== 'chat') return
    this.addChat(origin.chat)
    if (origin.message) put(this.mentioned, origin.chat.native, origin.message)
  }
}

function put(map: Map<string, Set<string>>, key: string, value: string): void {
  const values = map.get(key)
  if (values) values.add(value)
  else map.set(key, new Set([value]))
}
