"""What tests of a shop can look like. No test waits, and none knows of another: `pytest -n 4`."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import mallbox
from conftest import EVENING

ANNA, BEN = "13800000001", "13800000002"
UNPAID, CANCELLED = 1, 4
CLAIM = "POST /voucher-order/seckill/{voucherId}"


def open_sale(mall, units):
    """The operator opens a sale that is on all evening; its id."""
    sale = {
        "shopId": 1, "title": "A coffee for one yuan", "subTitle": "", "rules": "",
        "payValue": 100, "actualValue": 3000, "stock": units,
        "beginTime": "2026-11-21T19:00:00", "endTime": "2026-11-21T23:00:00",
    }
    return mall.call("POST", "/voucher/seckill", mall.operator, sale).data


def claim(mall, sale, token):
    return mall.call("POST", f"/voucher-order/seckill/{sale}", token)


def stock(mall, sale):
    return mall.call("GET", f"/sale/{sale}").data["stock"]


def order_status(mall, order, token):
    return mall.call("GET", f"/voucher-order/{order}", token).data["status"]


def test_the_last_unit_is_sold_once(mall):
    sale = open_sale(mall, units=1)
    tokens = [mall.log_in(ANNA), mall.log_in(BEN)]
    with ThreadPoolExecutor() as at_once:
        answers = list(at_once.map(lambda token: claim(mall, sale, token), tokens))
    assert sorted(answer.get("code", "BOUGHT") for answer in answers) == ["BOUGHT", "SOLD_OUT"]
    assert stock(mall, sale) == 0
    mall.control("POST", "/idle")
    books = mall.control("GET", "/books")
    assert books["balances"], books["text"]


def test_an_unpaid_order_is_cancelled_after_15_minutes(mall):
    sale = open_sale(mall, units=1)
    anna, ben = mall.log_in(ANNA), mall.log_in(BEN)
    # The id of an order is larger than 2^53. As text it is exact in every language.
    order = claim(mall, sale, anna)["dataText"]
    assert claim(mall, sale, ben)["code"] == "SOLD_OUT"
    mall.advance("14m 59s")
    assert order_status(mall, order, anna) == UNPAID
    mall.advance("1s")
    assert order_status(mall, order, anna) == CANCELLED
    assert claim(mall, sale, ben)["success"]


def test_a_session_ends_after_30_minutes_unused(mall):
    anna = mall.log_in(ANNA)
    mall.advance("29m")
    assert mall.call("GET", "/user/me", anna)["success"]
    mall.advance("30m")
    answer = mall.call("GET", "/user/me", anna)
    assert (answer.status, answer["code"]) == (401, "NOT_LOGGED_IN")


def test_who_lost_the_answer_asks_again_and_has_bought_once(mall):
    sale = open_sale(mall, units=5)
    anna = mall.log_in(ANNA)
    mall.control("POST", "/faults", endpoint=CLAIM, does="loseAnswer", times=1)
    with pytest.raises(ConnectionError):
        claim(mall, sale, anna)
    again = claim(mall, sale, anna)
    assert again["code"] == "ALREADY_BOUGHT"
    orders = mall.call("GET", "/voucher-order/of/me", anna).data
    assert [order["id"] for order in orders] == [again["dataText"]]
    assert stock(mall, sale) == 4


def test_trouble_with_the_storage_is_answered_503_and_passes(mall):
    sale = open_sale(mall, units=5)
    anna = mall.log_in(ANNA)
    mall.control("POST", "/faults", port="sales.claim", does="error", times=2)
    assert [claim(mall, sale, anna).status for _ in range(3)] == [503, 503, 200]
    assert stock(mall, sale) == 4


def test_a_restore_brings_back_what_was_sold(mall):
    sale = open_sale(mall, units=1)
    anna, ben = mall.log_in(ANNA), mall.log_in(BEN)
    mall.control("POST", "/snapshot", name="before the rush")
    assert claim(mall, sale, anna)["success"]
    mall.control("POST", "/restore", name="before the rush")
    assert stock(mall, sale) == 1
    assert claim(mall, sale, ben)["success"]


def test_a_reset_leads_back_to_the_start(mall):
    sale = open_sale(mall, units=1)
    mall.control("POST", "/faults", endpoint=CLAIM, does="error")
    mall.advance("2d")
    mall.control("POST", "/reset")
    assert mall.control("GET", "/clock")["now"] == EVENING
    assert mall.call("GET", f"/sale/{sale}")["code"] == "UNKNOWN_SALE"
    assert mall.control("GET", "/faults") == []


def test_malls_made_of_one_snapshot_share_nothing(mall):
    sale = open_sale(mall, units=1)
    mall.control("POST", "/snapshot", name="on sale")
    copy = {"from": "on sale"}
    with mall.another(**copy) as one, mall.another(**copy) as other:
        for each in (mall, one, other):
            assert claim(each, sale, each.log_in(ANNA))["success"]
        one.advance("15m")
        assert [stock(each, sale) for each in (mall, one, other)] == [0, 1, 0]
        assert other.control("GET", "/clock")["now"] == EVENING


def test_a_control_that_cannot_be_raises(mall):
    with pytest.raises(mallbox.MallboxError, match="BAD_REQUEST"):
        mall.control("POST", "/faults", endpoint="POST /no-such-call", does="error")


def test_a_start_that_fails_says_why():
    with pytest.raises(mallbox.MallboxError, match="nowhere.sql"):
        with mallbox.start("--data", "nowhere.sql"):
            pass
