/** Every entity that MikroORM manages. A new one is a file beside this and a line here. */
import type { EntitySchema } from '@mikro-orm/core'
import { PersonalToken, UserSession } from './accounts.ts'

export const entities: readonly EntitySchema[] = [PersonalToken, UserSession]
