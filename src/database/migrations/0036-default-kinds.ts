/** A key that wants the default kinds keeps no number for them: the default grows with the reference. */
import { Migration } from '@mikro-orm/migrations'

/** The default as it was: 26 kinds, without numbers 9, 10 and 20. */
const FORMER_DEFAULT = 66_058_751

export class DefaultKinds extends Migration {
  override async up(): Promise<void> {
    this.addSql(`update api_key set filter = (
        select jsonb_agg(case when entry->'kinds' = '${FORMER_DEFAULT}' then entry - 'kinds' else entry end
                         order by place)
          from jsonb_array_elements(filter) with ordinality as entries (entry, place))
      where filter @> '[{"kinds": ${FORMER_DEFAULT}}]'`)
  }
}
