/** Every migration in the order in which it runs. A new one is a file `NNNN-name.ts` and a line here. */
import type { Migration } from '@mikro-orm/migrations'
import { Accounts } from './0001-accounts.ts'
import { Credentials } from './0002-credentials.ts'
import { Sandbox } from './0003-sandbox.ts'
import { RequestLog } from './0004-request-log.ts'
import { Links } from './0005-links.ts'
import { UpdateBlocks } from './0006-update-blocks.ts'

export interface NamedMigration {
  /** The file's name without its suffix: what is recorded in the database as done. */
  readonly name: string
  readonly class: new (...args: ConstructorParameters<typeof Migration>) => Migration
}

export const migrationsList: readonly NamedMigration[] = [
  { name: '0001-accounts', class: Accounts },
  { name: '0002-credentials', class: Credentials },
  { name: '0003-sandbox', class: Sandbox },
  { name: '0004-request-log', class: RequestLog },
  { name: '0005-links', class: Links },
  { name: '0006-update-blocks', class: UpdateBlocks },
]
