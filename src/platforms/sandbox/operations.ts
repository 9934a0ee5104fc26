/** Carries out one operation for a linked person. */
import type { Operation, OperationResult } from '../../../machines/operation.ts'
import type { Queryable } from '../../database/database.ts'
import { answerCallback } from './callback.ts'
import { checkedContent } from './draft.ts'
import { describe, resolve } from './find.ts'
import { chatNative, messageNative } from './natives.ts'
import type { Outbox } from './outbox.ts'
import { passOn } from './pass-on.ts'
import { edit, remove } from './revise.ts'
import { send } from './send.ts'
import { showTyping } from './typing.ts'

export interface World {
  readonly db: Queryable
  readonly outbox: Outbox
  readonly wake: (people: readonly number[]) => void
}

export interface Doer {
  readonly person: number
  readonly session?: number
}

const done: OperationResult = { kind: 'done' }

export async function carryOut(
  world: World,
  doer: Doer,
  operation: Operation,
  request: string,
): Promise<OperationResult> {
  const { db, outbox, wake } = world
  const { person } = doer
  switch (operation.kind) {
    case 'send': {
      const content = checkedContent(operation.content)
      const draft = { ...draftOf(doer, operation, request), content }
      return { kind: 'message', message: await send(db, outbox, draft) }
    }
    case 'forward':
    case 'copy': {
      const from = placeOf(operation.from, operation.message, operation.kind)
      const draft = draftOf(doer, operation, request)
      return { kind: 'message', message: await passOn(db, outbox, operation.kind, from, draft) }
    }
    case 'edit': {
      const place = placeOf(operation.chat, operation.message, 'edit')
      const content = checkedContent(operation.content)
      const message = await edit(db, wake, doer, place, { ...operation, content })
      return { kind: 'message', message }
    }
    case 'delete':
      await remove(db, wake, doer, placeOf(operation.chat, operation.message, 'delete'))
      return done
    case 'act':
      await showTyping(db, person, chatNative(operation.chat), operation.action)
      return done
    case 'answer':
      await answerCallback(db, person, operation.callback, answerOf(operation))
      wake([])
      return done
    case 'resolve':
      return { kind: 'chat', chat: await resolve(db, operation.name) }
    case 'describe':
      return { kind: 'chat', chat: await describe(db, person, chatNative(operation.chat)) }
  }
}

type Sending = Extract<Operation, { kind: 'send' | 'forward' | 'copy' }>

function draftOf({ person, session }: Doer, operation: Sending, request: string) {
  const { chat, replyTo, buttons } = operation
  return {
    sender: person,
    ...(session !== undefined && { session }),
    native: chatNative(chat),
    request,
    ...(replyTo !== undefined && { reply: messageNative(replyTo, 'be replied') }),
    ...(operation.kind === 'send' && operation.replyOptional && { replyOptional: true }),
    ...(buttons && { buttons }),
  }
}

const placeOf = (chat: string, message: string, purpose: string) => ({
  chat: chatNative(chat),
  message: messageNative(message, purpose),
})

function answerOf({ text, alert, url }: Extract<Operation, { kind: 'answer' }>) {
  return {
    ...(text !== undefined && { text }),
    ...(alert !== undefined && { alert }),
    ...(url !== undefined && { url }),
  }
}
