/** What docs/operations.md tells an operator to do after a restore is done here, by the letter. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { scene } from '../service/scene.ts'
import { quietLogger } from '../support/logger.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
const [, statement = ''] = /```sql\n(.+?)```/s.exec(page) ?? []

t.test(
  'a bot that is ahead of a restored log misses nothing once the ids were moved on',
  async (t) => {
    const { service, client, ada, credentialId, key } = await scene(t, {})
    const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
    t.teardown(() => db.close())
    const write = (text: string) => client.write(ada.id, '@gatebot', text)
    const read = async (offset: number) =>
      (await client.bot(key, 'getUpdates', { offset, timeout: 20 })).body.result
    const log = 'select next_update_id from credential_log where credential_id = $1'
    const [backup] = await db.query<{ next_update_id: number }>(log, [credentialId])
    await write('since the backup')
    const [seen] = await read(0)
    t.equal(seen.message.text, 'since the backup')

    // The backup's figures, while nothing is written.
    await db.query('delete from update_log where credential_id = $1', [credentialId])
    await db.query('update api_key set cursor = $2 where credential_id = $1', [
      credentialId,
      (backup?.next_update_id ?? 0) - 1,
    ])
    await db.query('update credential_log set next_update_id = $2 where credential_id = $1', [
      credentialId,
      backup?.next_update_id,
    ])
    await db.query(statement)
    await service.restart()
    await client.state(credentialId, 'active')

    await write('after the restore')
    const [next] = await read(seen.update_id + 1)
    t.equal(next.message.text, 'after the restore')
    t.ok(next.update_id > seen.update_id, 'under an id that was never given before')
  },
)
