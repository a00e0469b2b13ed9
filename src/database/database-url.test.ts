import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectTimeoutOf, databaseUrlFault } from './database-url.ts'

test('the URL of one server is taken', () => {
  for (const url of [
    'postgres://localhost',
    'postgresql://user:hush@db.example.com:5432/billing?sslmode=require',
    'postgres://user:a,b%2Fc@[::1]:5432/billing',
    'postgres:///billing?host=/run/postgresql',
    'postgres://db/name?application_name=a,b',
  ]) {
    assert.equal(databaseUrlFault(url), undefined, url)
  }
})

test('several hosts and target_session_attrs are refused', () => {
  for (const [url, what] of [
    ['postgres://user:hush@a:5432,b:5432/billing', /several hosts/],
    ['postgres://user:hush@a,b/billing', /several hosts/],
    ['postgres://a:5432,b', /several hosts/],
    ['postgres://user:hush@a,b?target_session_attrs=primary', /several hosts/],
    ['postgres:///billing?host=a,b', /several hosts/],
    ['postgres://a/billing?target_session_attrs=read-write', /target_session_attrs/],
  ] as const) {
    const fault = databaseUrlFault(url) ?? ''
    assert.match(fault, what, url)
    assert.doesNotMatch(fault, /hush/)
  }
})

test('the URL may say how long to wait for a connection, in whole seconds', () => {
  const url = 'postgres://user:hush@db/billing'
  assert.equal(connectTimeoutOf(url), undefined)
  assert.equal(connectTimeoutOf(`${url}?connect_timeout=10`), 10_000)
  for (const unlimited of ['0', '-1']) {
    assert.equal(databaseUrlFault(`${url}?connect_timeout=${unlimited}`), undefined)
    assert.equal(connectTimeoutOf(`${url}?connect_timeout=${unlimited}`), undefined)
  }
  for (const wrong of ['2.5', 'long', '', '1000000']) {
    const fault = databaseUrlFault(`${url}?connect_timeout=${wrong}`) ?? ''
    assert.match(fault, /whole seconds, of at most six digits, as connect_timeout/)
    assert.doesNotMatch(fault, /hush/)
  }
})

test('what is no URL of PostgreSQL is refused', () => {
  for (const url of ['mysql://localhost', 'localhost', 'postgres:/', 'postgres://a:b:c', '']) {
    assert.match(databaseUrlFault(url) ?? '', /must look like postgres:\/\//, url)
  }
})
