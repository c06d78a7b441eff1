// What tests of a shop can look like. No test waits, and none knows of another: they run at the same time.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { dataOf, start } from './mallbox.mjs';

const EVENING = '2026-11-21T20:00:00';
const [ANNA, BEN] = ['13800000001', '13800000002'];
const [UNPAID, CANCELLED] = [1, 4];
const CLAIM = 'POST /voucher-order/seckill/{voucherId}';

/** The operator opens a sale that is on all evening; its id. */
async function openSale(mall, units) {
  return dataOf(await mall.call('POST', '/voucher/seckill', mall.operator, {
    shopId: 1, title: 'A coffee for one yuan', subTitle: '', rules: '',
    payValue: 100, actualValue: 3000, stock: units,
    beginTime: '2026-11-21T19:00:00', endTime: '2026-11-21T23:00:00',
  }));
}

const claim = (mall, sale, token) => mall.call('POST', `/voucher-order/seckill/${sale}`, token);

const stock = async (mall, sale) => dataOf(await mall.call('GET', `/sale/${sale}`)).stock;

const orderStatus = async (mall, order, token) =>
  dataOf(await mall.call('GET', `/voucher-order/${order}`, token)).status;

describe('a mall', { concurrency: true }, () => {
  let first;
  before(async () => { first = await start(); });
  after(() => first.end());

  /** A test with a mall that nobody has touched. Its clock stands until the test moves it. */
  const inMall = (name, test) => it(name, async () => {
    const mall = await first.another({ start: EVENING, frozen: true });
    try {
      await test(mall);
    } finally {
      await mall.end();
    }
  });

  inMall('sells the last unit once', async (mall) => {
    const sale = await openSale(mall, 1);
    const tokens = [await mall.logIn(ANNA), await mall.logIn(BEN)];
    const answers = await Promise.all(tokens.map((token) => claim(mall, sale, token)));
    assert.deepEqual(answers.map((answer) => answer.code ?? 'BOUGHT').sort(), ['BOUGHT', 'SOLD_OUT']);
    assert.equal(await stock(mall, sale), 0);
    await mall.control('POST', '/idle');
    const books = await mall.control('GET', '/books');
    assert.ok(books.balances, books.text);
  });

  inMall('cancels an unpaid order after 15 minutes', async (mall) => {
    const sale = await openSale(mall, 1);
    const [anna, ben] = [await mall.logIn(ANNA), await mall.logIn(BEN)];
    // The id of an order is larger than 2^53: `data` has been rounded by JSON.parse, `dataText` is exact.
    const { data, dataText: order } = await claim(mall, sale, anna);
    assert.ok(!Number.isSafeInteger(data));
    assert.equal((await claim(mall, sale, ben)).code, 'SOLD_OUT');
    await mall.advance('14m 59s');
    assert.equal(await orderStatus(mall, order, anna), UNPAID);
    await mall.advance('1s');
    assert.equal(await orderStatus(mall, order, anna), CANCELLED);
    assert.ok((await claim(mall, sale, ben)).success);
  });

  inMall('ends a session after 30 minutes unused', async (mall) => {
    const anna = await mall.logIn(ANNA);
    await mall.advance('29m');
    assert.ok((await mall.call('GET', '/user/me', anna)).success);
    await mall.advance('30m');
    const { status, code } = await mall.call('GET', '/user/me', anna);
    assert.deepEqual([status, code], [401, 'NOT_LOGGED_IN']);
  });

  inMall('has sold once to who lost the answer and asks again', async (mall) => {
    const sale = await openSale(mall, 5);
    const anna = await mall.logIn(ANNA);
    await mall.control('POST', '/faults', { endpoint: CLAIM, does: 'loseAnswer', times: 1 });
    await assert.rejects(claim(mall, sale, anna), /fetch failed/);
    const again = await claim(mall, sale, anna);
    assert.equal(again.code, 'ALREADY_BOUGHT');
    const orders = dataOf(await mall.call('GET', '/voucher-order/of/me', anna));
    assert.deepEqual(orders.map((order) => order.id), [again.dataText]);
    assert.equal(await stock(mall, sale), 4);
  });

  inMall('answers 503 while its storage is in trouble', async (mall) => {
    const sale = await openSale(mall, 5);
    const anna = await mall.logIn(ANNA);
    await mall.control('POST', '/faults', { port: 'sales.claim', does: 'error', times: 2 });
    for (const status of [503, 503, 200]) {
      assert.equal((await claim(mall, sale, anna)).status, status);
    }
    assert.equal(await stock(mall, sale), 4);
  });

  inMall('is as it was after a restore', async (mall) => {
    const sale = await openSale(mall, 1);
    const [anna, ben] = [await mall.logIn(ANNA), await mall.logIn(BEN)];
    await mall.control('POST', '/snapshot', { name: 'before the rush' });
    assert.ok((await claim(mall, sale, anna)).success);
    await mall.control('POST', '/restore', { name: 'before the rush' });
    assert.equal(await stock(mall, sale), 1);
    assert.ok((await claim(mall, sale, ben)).success);
  });

  inMall('is at its start after a reset', async (mall) => {
    const sale = await openSale(mall, 1);
    await mall.control('POST', '/faults', { endpoint: CLAIM, does: 'error' });
    await mall.advance('2d');
    await mall.control('POST', '/reset');
    assert.equal((await mall.control('GET', '/clock')).now, EVENING);
    assert.equal((await mall.call('GET', `/sale/${sale}`)).code, 'UNKNOWN_SALE');
    assert.deepEqual(await mall.control('GET', '/faults'), []);
  });

  inMall('shares nothing with those made of its snapshot', async (mall) => {
    const sale = await openSale(mall, 1);
    await mall.control('POST', '/snapshot', { name: 'on sale' });
    const malls = [mall, await mall.another({ from: 'on sale' }), await mall.another({ from: 'on sale' })];
    const [, one, other] = malls;
    for (const each of malls) {
      assert.ok((await claim(each, sale, await each.logIn(ANNA))).success);
    }
    await one.advance('15m');
    assert.deepEqual(await Promise.all(malls.map((each) => stock(each, sale))), [0, 1, 0]);
    assert.equal((await other.control('GET', '/clock')).now, EVENING);
    await Promise.all([one.end(), other.end()]);
  });

  inMall('refuses a control that cannot be', async (mall) => {
    const fault = { endpoint: 'POST /no-such-call', does: 'error' };
    await assert.rejects(mall.control('POST', '/faults', fault), /BAD_REQUEST/);
  });

  it('says why it does not start', async () => {
    await assert.rejects(start('--data', 'nowhere.sql'), /nowhere\.sql/);
  });
});
