import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gauges } from '../../src/health/gauges.ts'
import { createMetrics } from '../../src/numbers/prometheus.ts'
import { createNumbers } from '../../src/numbers/slots.ts'
import { anchorsOf } from '../docs/markdown.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { productFiles, read, root } from '../tidy/source-files.ts'
import {
  dashboard,
  panels,
  queries,
  rules,
  rulesPath,
  targets,
  tests,
  testsPath,
  variables,
} from './metrics-files.ts'
import { faultsOf, groupingsOf, metricsOf, otherMetricsOf } from './prom-expressions.ts'
import { missingPromtool, promtool, promtoolOf } from './promtool.ts'

const emptyMetrics = () =>
  createMetrics({ numbers: createNumbers(), gauges, readGauges: async () => [] })

const skipped = { skip: missingPromtool }

describe('the alerts', () => {
  test('Prometheus reads them', skipped, () => {
    const { ok, said } = promtool('check', 'rules', join(root, rulesPath))
    assert.ok(ok, said)
    assert.match(said, new RegExp(`SUCCESS: ${rules.length} rules found`))
  })

  test('each fires where it should, and stays silent otherwise', skipped, () => {
    const { ok, said } = promtool('test', 'rules', join(root, testsPath))
    assert.ok(ok, said)
  })

  test('their tests have each of them fire, with its severity, and have it silent just before', () => {
    const checks = tests.flatMap(({ promql_expr_test }) => promql_expr_test)
    for (const { alert, labels } of rules) {
      const own = checks.filter(
        ({ expr }) => expr === `ALERTS{alertname="${alert}", alertstate="firing"}`,
      )
      const fired = own.flatMap(({ exp_samples }) => exp_samples)
      assert.ok(fired.length > 0, `${alert} never fires`)
      for (const sample of fired) {
        assert.ok(sample.labels.includes(`alertname="${alert}", alertstate="firing"`), alert)
        assert.ok(sample.labels.includes(`severity="${labels['severity']}"`), alert)
      }
      assert.ok(
        own.some(({ exp_samples }) => exp_samples.length === 0),
        `${alert} is never silent`,
      )
    }
  })

  test('where all is well, there is every metric that they look at, and nothing is even pending', () => {
    const well = tests.find(({ promql_expr_test }) =>
      promql_expr_test.some(({ expr }) => expr === 'ALERTS'),
    )
    assert.ok(well !== undefined)
    assert.ok(well.promql_expr_test.every(({ exp_samples }) => exp_samples.length === 0))
    const given = new Set(
      well.input_series.flatMap(({ series }) => metricsOf(series).map(({ name }) => name)),
    )
    const seen = rules.flatMap(({ expr }) => metricsOf(expr).map(({ name }) => name))
    assert.deepEqual(
      seen.filter((name) => !given.has(name)),
      [],
    )
  })

  test('each waits a while, says how bad it is, what it is and what to do, and where that is written', () => {
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
    for (const { alert, for: wait, labels, annotations } of rules) {
      assert.match(alert, /^Quittance[A-Z]\w+$/)
      assert.match(wait ?? '', /^\d+[mhd]$/, alert)
      assert.match(labels['severity'] ?? '', /^(?:critical|warning|info)$/, alert)
      assert.deepEqual(Object.keys(annotations), ['summary', 'description'], alert)
      assert.match(annotations['summary'] ?? '', /\S[^.]$/, alert)
      assert.match(annotations['description'] ?? '', /\. .*\bdocs\/\S+\.$/s, alert)
    }
  })

  test('the labels that their texts show are there when they fire', () => {
    for (const { alert, expr, annotations } of rules) {
      const shown = Object.values(annotations).flatMap((text) =>
        Array.from(text.matchAll(/\$labels\.(\w+)/g), ([, label = '']) => label),
      )
      const kept = groupingsOf(expr)[0]?.labels ?? ['job', 'instance']
      assert.deepEqual(
        shown.filter((label) => !kept.includes(label)),
        [],
        alert,
      )
    }
  })
})

describe('what the alerts, their tests and the dashboard name', () => {
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...tests.flatMap(({ input_series }) => input_series.map(({ series }) => series)),
    ...queries,
  ]

  test('is in the catalogue of metrics, with the labels that they use', () => {
    assert.ok(expressions.flatMap(metricsOf).length > 150)
    assert.deepEqual(expressions.flatMap(faultsOf), [])
  })

  test('of Node and its process is what this Node says of itself', () => {
    const registry = emptyMetrics()
    const known = new Set(registry.getMetricsAsArray().map(({ name }) => name))
    const others = expressions.flatMap(otherMetricsOf)
    assert.ok(others.length > 5)
    assert.deepEqual(
      others.filter((name) => !known.has(name.replace(/_(?:sum|count|bucket)$/, ''))),
      [],
    )
  })

  test('and all else that is measured has names as Prometheus wants them', skipped, async () => {
    const registry = emptyMetrics()
    const { ok, said } = promtoolOf(await registry.metrics(), 'check', 'metrics')
    assert.deepEqual([ok, said], [true, ''])
  })

  test('of values of labels is written in the code: one that nobody counts never fires', () => {
    const code = productFiles()
      .map(({ text }) => text)
      .join('\n')
    const values = [...rules.map(({ expr }) => expr), ...queries]
      .flatMap(metricsOf)
      .flatMap(({ matchers }) => matchers)
      .flatMap(([, value]) => value.split('|'))
      .filter((value) => !value.startsWith('$'))
    assert.ok(values.length > 20)
    assert.deepEqual(
      values.filter((value) => !code.includes(`'${value}'`)),
      [],
    )
  })

  test('of pages exists, with its heading', () => {
    const texts = [
      read(rulesPath),
      ...dashboard.panels.map(({ description }) => description ?? ''),
    ].join('\n')
    const links = Array.from(
      texts.matchAll(/\b(docs\/[\w.-]+\.md)(?:#([\w-]+))?/g),
      ([, page = '', anchor]) => ({ page, anchor }),
    )
    assert.ok(links.length > 25)
    const dead = links.filter(
      ({ page, anchor }) =>
        !existsSync(join(root, page)) ||
        (anchor !== undefined && !anchorsOf(read(page)).includes(anchor)),
    )
    assert.deepEqual(dead, [])
  })
})

describe('the dashboard', () => {
  const datasource = { type: 'prometheus', uid: '${datasource}' }

  test('has what Grafana needs of one, and a name that stays', () => {
    assert.equal(dashboard.uid, 'quittance')
    assert.equal(dashboard.title, 'Quittance')
    // Grafana 12 and 13; newer ones read it, and change it for themselves.
    assert.equal(dashboard.schemaVersion, 42)
    // One that is there already would be overwritten by its number.
    assert.ok(!('id' in dashboard))
    assert.deepEqual(dashboard.annotations, { list: [] })
    assert.match(dashboard.time.from, /^now-\d+h$/)
    assert.equal(dashboard.time.to, 'now')
  })

  test('asks the Prometheus that its reader chooses', () => {
    assert.equal(variables.find(({ name }) => name === 'datasource')?.type, 'datasource')
    const asking = [...panels, ...targets, ...variables.filter(({ type }) => type === 'query')]
    for (const one of asking) assert.deepEqual(one.datasource, datasource)
  })

  test('says of each panel what it shows, and asks something for it', () => {
    const texts = panels.map(({ title }) => title)
    assert.equal(new Set(texts).size, texts.length)
    for (const { title, description, targets = [] } of panels) {
      assert.match(title, /^[A-Z]/)
      assert.match(description ?? '', /^[A-Z1].*\.$/s, title)
      assert.ok(targets.length > 0, title)
      const ids = targets.map(({ refId }) => refId)
      assert.equal(new Set(ids).size, ids.length, title)
      for (const { refId, expr } of targets) {
        assert.match(refId, /^[A-Z]$/, title)
        assert.match(expr, /\S/, title)
      }
    }
  })

  test('has its panels in 24 columns under a row, none upon another', () => {
    const ids = dashboard.panels.map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(dashboard.panels[0]?.type, 'row')
    const taken = new Map<string, string>()
    for (const { title, gridPos } of dashboard.panels) {
      const { x, y, w, h } = gridPos
      assert.ok(
        [x, y, w, h].every((one) => Number.isInteger(one) && one >= 0),
        title,
      )
      assert.ok(w > 0 && h > 0 && x + w <= 24, title)
      for (let column = x; column < x + w; column += 1) {
        for (let line = y; line < y + h; line += 1) {
          const place = `${column} ${line}`
          assert.equal(taken.get(place), undefined, `${title} lies upon another`)
          taken.set(place, title)
        }
      }
    }
    // In the order in which they are seen: that is how Grafana finds what belongs to a row.
    const places = dashboard.panels.map(({ gridPos: { x, y } }) => y * 24 + x)
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    )
  })

  test('uses variables that it has, and shows labels that its expressions keep', () => {
    const own = new Set([...variables.map(({ name }) => name), '__rate_interval'])
    const used = queries.flatMap((text) =>
      Array.from(text.matchAll(/\$\{?(\w+)/g), ([, name = '']) => name),
    )
    assert.deepEqual(
      used.filter((name) => !own.has(name)),
      [],
    )
    for (const { expr, legendFormat } of targets) {
      const shown = Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, label = '']) => label)
      const kept = groupingsOf(expr).flatMap(({ labels }) => labels)
      assert.deepEqual(
        shown.filter((label) => !kept.includes(label)),
        [],
        expr,
      )
      const lost = kept.filter((label) => label !== 'le' && !shown.includes(label))
      assert.deepEqual(lost, [], `series of one name: ${expr}`)
    }
  })

  test('asks what Prometheus understands', skipped, () => {
    using folder = temporaryFolder()
    const file = join(folder.path, 'dashboard.rules.yml')
    const recorded = targets.map(({ expr }, index) => ({
      record: `dashboard:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }))
    // YAML reads JSON, too.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }))
    const { ok, said } = promtool('check', 'rules', file)
    assert.ok(ok, said)
  })
})
