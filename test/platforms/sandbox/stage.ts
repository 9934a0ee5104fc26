/** A sandbox of its own for one test, with people who link to it. */
import type { Test } from 'tap'
import { testDatabase } from '../../support/database.ts'
import { fileDesk, fileOwner } from '../../support/files.ts'
import { quietLogger } from '../../support/logger.ts'
import { run, Store } from '../contract/recorder.ts'
import { linked } from '../contract/scene.ts'
import { ownedSandbox } from './owned.ts'
import { register } from './register.ts'

export async function stage(t: Test) {
  const { database: db } = await testDatabase(t)
  const time = { ahead: 0 }
  const clock = () => Date.now() + time.ahead
  const media = await fileDesk(t, db)
  const owner = await fileOwner(db)
  const create = () => ownedSandbox({ db, logger: quietLogger, media, clock }, owner)
  const sandbox = create()

  const link = async (person: Awaited<ReturnType<typeof register>>) => {
    const account = {
      native: String(person.id),
      method: 'phone',
      fields: { phone: person.phone },
      code: async () => (await sandbox.inboxes.codes(person.id))[0]!.code,
    }
    return new Store(await linked(sandbox.platform, account))
  }
  const open = async (store: Store, platform = sandbox.platform) => {
    const opened = run(platform, store)
    t.teardown(() => opened.stop())
    await opened.reported('opened')
    return opened
  }
  /** A person who is linked and online. */
  const online = async () => {
    const person = await register(sandbox)
    const store = await link(person)
    return { person, store, session: await open(store) }
  }
  return {
    db,
    media,
    owner,
    sandbox,
    create,
    time,
    link,
    open,
    online,
    register: () => register(sandbox),
  }
}
