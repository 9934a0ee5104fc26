/** Finds the people that texts mention, and replaces their ids. */
import type { Content, Poll, Text, TextEntity } from '../../machines/model/content.ts'

/** A poll may come without a message. */
export type Written = Content | { readonly kind: 'poll'; readonly poll: Poll }

export function textsIn(content: Written): readonly Text[] {
  switch (content.kind) {
    case 'text':
      return [content]
    case 'media':
      return [content.caption]
    case 'poll': {
      const { question, options, explanation } = content.poll
      return [question, ...options.map(({ text }) => text), ...(explanation ? [explanation] : [])]
    }
    default:
      return []
  }
}

/** The native id of a person by the public one; undefined if there is none. */
export type Find = (person: string) => Promise<string | undefined>

/** A mention of an unknown person becomes plain text. */
export async function renamedText<Of extends Text>(text: Of, find: Find): Promise<Of> {
  if (text.entities.every(({ person }) => person === undefined)) return text
  const entities: TextEntity[] = []
  for (const entity of text.entities) {
    const person = entity.person === undefined ? undefined : await find(entity.person)
    if (person !== undefined) entities.push({ ...entity, person })
    else if (entity.person === undefined) entities.push(entity)
  }
  return { ...text, entities }
}

export async function renamedContent<Of extends Content>(content: Of, find: Find): Promise<Of> {
  return { ...content, ...(await renamedParts(content, find)) }
}

async function renamedParts(content: Content, find: Find): Promise<object> {
  if (content.kind === 'text') return renamedText(content, find)
  if (content.kind === 'media') return { caption: await renamedText(content.caption, find) }
  if (content.kind === 'poll') return { poll: await renamedPoll(content.poll, find) }
  return {}
}

async function renamedPoll(poll: Poll, find: Find): Promise<Poll> {
  const option = async (option: Poll['options'][number]) => ({
    ...option,
    text: await renamedText(option.text, find),
  })
  return {
    ...poll,
    question: await renamedText(poll.question, find),
    options: await Promise.all(poll.options.map(option)),
    ...(poll.explanation && { explanation: await renamedText(poll.explanation, find) }),
  }
}
