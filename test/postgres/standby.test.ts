import { it, onTestFinished } from 'vitest'
import { hasPostgres, PostgresServer } from '../helpers/postgres.ts'
import { skipTest } from '../helpers/skip.ts'
import { Campaign, campaignSize, inStorm } from '../helpers/storm.ts'
import { tempDir } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'
import { Load } from './load.ts'

/**
 * A primary that commits only what its standby has as well is killed under load, and the standby promoted, again and
 * again: what was acknowledged is on the one that is left.
 */
it('nothing acknowledged is lost when a synchronous standby is promoted under load', {
  timeout: 1_800_000,
}, async () => {
  if (!hasPostgres()) skipTest('needs PostgreSQL: run `apt-get install -y postgresql` as root')
  const rounds = campaignSize('standby', 20, 2)
  const campaign = new Campaign('standby', rounds)
  let primary = await PostgresServer.create(tempDir(), {
    settings: ['wal_level=replica', 'max_wal_senders=10'],
  })
  onTestFinished(() => primary.stop('SIGQUIT'))
  const load = await Load.on(primary.port, 2, inStorm(5, 2))
  for (let round = 0; round < rounds; round++) {
    const standby = await primary.standby(tempDir())
    onTestFinished(() => standby.stop('SIGQUIT'))
    primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.sql('SELECT pg_reload_conf()')
    await until(
      'the standby is synchronous',
      () =>
        primary.sql('SELECT sync_state FROM pg_stat_replication').includes('sync\n'.trim()) &&
        primary.sql('SHOW synchronous_standby_names') === '*',
    )
    await load.goesOn()
    await primary.stop('SIGQUIT')
    // The standby was copied before the setting, so it waits for nobody once it is the primary.
    for (const { proxy } of load.machines) {
      proxy.cut()
      proxy.target = standby.port
      proxy.restore()
    }
    standby.sql('SELECT pg_promote()')
    primary = standby
    await load.goesOn()
    campaign.progress(round + 1)
  }
  campaign.end({ promotions: rounds, ...(await load.check()) })
})
