/** Finds keys by what their names and hints have in them, without reading and folding the rows of all keys. */
import { Migration } from '@mikro-orm/migrations'

export class KeySearch extends Migration {
  override up(): void {
    // The planner reads such an index alone only if it also has the columns that its expression is made of.
    this.addSql(`create index api_key_searched on api_key (user_id, id, (
      left(case when octet_length(name) = length(name) then lower(name)
        else translate(lower(regexp_replace(normalize(name, NFKD), '[\\u0300-\\u036f\\u064b-\\u065f\\u0670]', '', 'g')),
                       '۰۱۲۳۴۵۶۷۸۹٠١٢٣٤٥٦٧٨٩', '01234567890123456789') end, 500)
      || chr(31) || replace(lower(key_hint), '…', '...')))
      include (name, key_hint, credential_id, revoked_at)`)
  }
}
