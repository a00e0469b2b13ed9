/** `npm run schema`: writes what the migrations make into src/database/schema.txt. */
import { writeFileSync } from 'node:fs'
import { connect } from '../../src/database/connect.ts'
import { migrate } from '../../src/database/migrate.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { embedded } from './databases.ts'
import { describeSchema } from './describe-schema.ts'

const { target, drop } = await embedded.createEmpty()
const database = connect({ target, log: silentLog, poolSize: 2, applicationName: 'schema' })
await migrate(database)
writeFileSync(
  new URL('../../src/database/schema.txt', import.meta.url),
  await describeSchema(database),
)
await database.close()
await drop()
