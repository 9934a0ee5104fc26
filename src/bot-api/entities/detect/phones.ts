/** Finds phone numbers, in their international form only: other digits may mean anything. */
import type { MessageEntity } from '../types.ts'
import { found } from './found.ts'

const phone = /(?<![\p{L}\p{N}_+])\+[1-9](?:[ .-]?\(?\d\)?){6,14}(?![\p{L}\p{N}_])/gu

export const findPhones = (text: string): MessageEntity[] =>
  Array.from(text.matchAll(phone), (match) => found('phone_number', match[0], match.index))
