/** Every method that is carried out, by its lower-case name. */
import type { Method } from '../method.ts'
import { chatMethods } from './chats.ts'
import { messageMethods } from './messages.ts'
import { updateMethods } from './updates.ts'

export const methods: ReadonlyMap<string, Method> = new Map(
  [...messageMethods, ...chatMethods, ...updateMethods].map((method) => [
    method.name.toLowerCase(),
    method,
  ]),
)
