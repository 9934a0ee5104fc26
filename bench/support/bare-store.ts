/** What a bare client receives, stored before it is acknowledged: in a table of the shape that the service has. */
import pg from 'pg'
import { arrayLiteral, textArray } from '../../src/database/write-behind.ts'

interface Row {
  readonly id: number
  readonly sourceKey: string
  readonly chatId: number
  /** The fields of the update, without braces. */
  readonly payload: string
}

export class BareStore {
  readonly #client: pg.Client
  readonly #statement: pg.QueryConfig

  private constructor(client: pg.Client, name: string) {
    this.#client = client
    this.#statement = {
      name: 'bare-store',
      text: `with moved as (update ${name} set place = $1)
             insert into ${name}_log (credential_id, update_id, source_key, kind, chat_id, payload)
             select 1, id, source_key, 0, chat_id, payload
               from unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[])
                      as u (id, source_key, chat_id, payload)`,
    }
  }

  static async open(databaseUrl: string, name: string): Promise<BareStore> {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(`create table ${name}_log (like update_log including all);
      create table ${name} as select ''::text as place`)
    return new BareStore(client, name)
  }

  /** The rows and how far they go in one statement, in the cheapest form that is known here. */
  async store(rows: readonly Row[], place: string): Promise<void> {
    const values = [
      place,
      arrayLiteral(rows.map(({ id }) => id)),
      textArray(rows.map(({ sourceKey }) => sourceKey)),
      arrayLiteral(rows.map(({ chatId }) => chatId)),
      textArray(rows.map(({ payload }) => payload)),
    ]
    await this.#client.query({ ...this.#statement, values })
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}
